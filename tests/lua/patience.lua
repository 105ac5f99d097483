-- How many times as long measuring may take: under ThreadSanitizer a coroutine
-- takes a millisecond to be made, under Valgrind everything some 30 times as
-- long.
local slow = (os.getenv "SANITIZE" or ""):find "thread" or
  (os.getenv "VALGRIND" or "") ~= ""
return slow and 20 or 1
