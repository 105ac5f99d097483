#!/bin/sh
# The program as a Lua interpreter: the same words, input and environment go
# to the stock interpreter and to ours, both typed as `prog`; stdout, stderr
# and exit code must be equal.
set -u
[ "$LUA" != : ] || { echo '1..0 # SKIP no stock Lua to compare with'; exit 0; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/lua" "$work/cbench"
ln -s "$LUA" "$work/lua/prog"
ln -s "$CBENCH" "$work/cbench/prog"
# A sanitizer has its own words on stderr when a finalizer is not run.
export ASAN_OPTIONS=detect_leaks=0
unset LUA_PATH LUA_CPATH LUA_PATH_5_4 LUA_CPATH_5_4
count=0

outcome() ( # DIRECTORY COMMAND: runs it there, prints all that came out
  cd "$work/$1" || exit 1
  sh -c "$2" >out 2>err <"$work/input"
  echo "exit code $?"
  echo '--- stdout'
  cat out
  echo '--- stderr'
  cat err
)

same() { # NAME COMMAND [INPUT]
  count=$((count + 1))
  printf "${3:-}" >"$work/input"
  outcome lua "$2" >"$work/expected"
  outcome cbench "$2" >"$work/got"
  if diff "$work/expected" "$work/got" >"$work/diff"; then
    echo "ok $count - $1"
  else
    echo "not ok $count - $1"
    sed 's/^/# /' "$work/diff"
  fi
}

script() { # NAME TEXT: a file of that name in both folders
  printf '%s\n' "$2" >"$work/lua/$1"
  printf '%s\n' "$2" >"$work/cbench/$1"
}

script args.lua 'print(#arg, ...)
for i = -4, 4 do io.write(tostring(arg[i]), " ") end print()'
script fail.lua 'local function f () error("bad", 1) end
f()'
script table.lua 'error {}'
script tostring.lua 'error(setmetatable({}, {
  __tostring = function () return "as text" end }))'
script syntax.lua 'x = = 1'
script mod.lua 'print("mod", ...) return { x = 15 }'
script exit.lua 'os.exit(tonumber(arg[1]) or arg[1] == "true", true)'
script close.lua 'local t <close> = setmetatable({}, {
  __close = function () print "closed" end })
setmetatable({}, { __gc = function () print "collected" end })'
script warn.lua 'warn("@on") warn("one ", "two") warn("@off") warn("three")'
script gcwarn.lua 'setmetatable({}, { __gc = function () error "in gc" end })'
script nested.lua 'pcall(error) local ok, m = pcall(string.rep) print(m)
print(collectgarbage "incremental", collectgarbage "count" > 0)'
# How deep the handler of messages stands when it calls __tostring.
script level.lua 'debug = require "debug"
m = {x=0}
setmetatable(m, {__tostring = function(x)
  return tostring(debug.getinfo(4).currentline + x.x)
end})
error(m)'
script warnings.lua 'warn("@allow") warn("@off", "text", "@off") warn("@off")
warn("@on", "YYY", "@on") warn("@off") warn("@on") warn("", "@on") warn("@on")
warn("Z", "Z", "Z")'
script order.lua 'print "creating 1"
setmetatable({}, {__gc = function () print(1) end})
setmetatable({}, {__gc = function ()
  print "2"
  setmetatable({}, {__gc = function () print(3) end})
  print(collectgarbage())
  os.exit(0, true)
end})'
script open.lua 'io.output "written" io.write "all of it"'
script deep.lua 'local function f () return f() + 1 end
f()'
mkdir "$work/lua/folder" "$work/cbench/folder"
script nothing.lua 'error(setmetatable({}, {__tostring = function () end}))'
for where in lua cbench; do
  "$LUA" - "$work/$where/binary.lua" "$work/$where/cut.lua" <<'END'
    local f = assert(io.open(arg[1], "wb"))
    f:write("# comment\n", string.dump(load "print(3)"))
    f:close()
    f = assert(io.open(arg[2], "wb"))
    f:write((string.dump(load "print(3)"):sub(1, -20)))
    f:close()
END
done
printf '\357\273\277#! comment\nprint(3)' >"$work/lua/bom.lua"
cp "$work/lua/bom.lua" "$work/cbench/bom.lua"

echo 1..92
same 'no words, a script on stdin' './prog' 'print(10)\nprint(2)'
same 'a script is -' './prog - a b' 'print(..., arg[0], arg[-1])'
same 'words after -' './prog - -h' 'print(arg[1])'
same 'a file named - after --' './prog -- -'
same 'arguments' './prog args.lua a b c'
same 'arguments after options' './prog -e "x = 1" -- args.lua -T 5'
same 'arguments that look like options' './prog args.lua -e 1 --help'
same 'one argument' './prog args.lua name=value'
same 'no script, arg' './prog -e "print(#arg, arg[0], arg[1], arg[2], arg[-1])"'
same 'an empty name' './prog ""'
same 'a missing file' './prog nofile.lua a b'
same 'a folder' './prog /tmp'
same 'a folder of this name' './prog folder'
same 'a stack that overflows' './prog deep.lua'
same 'a stack that overflows in -e' './prog -e "local function f () return 1 +
  f() end f()"'
same 'a stack that overflows at first' 'LUA_INIT=@deep.lua ./prog -i'
same 'a syntax error' './prog syntax.lua'
same 'an error has a traceback' './prog fail.lua'
same 'a table as error' './prog table.lua'
same 'an error object with __tostring' './prog tostring.lua'
same 'an error object looks at its caller' './prog level.lua'
same 'an error object whose __tostring gives nothing' './prog nothing.lua'
same 'a binary chunk below a comment' './prog binary.lua'
same 'a binary chunk that is cut off' './prog cut.lua'
same 'a binary chunk on stdin' './prog - <binary.lua'
same '-e with nothing in it' './prog "-e " -- args.lua a b c'
same 'many arguments' './prog args.lua $(seq 300)'
same 'control messages of warn' './prog -W warnings.lua'
same 'finalizers at the end' './prog -W order.lua'
same 'an open file at the end' './prog open.lua; cat written'
same 'nil as error' './prog -e "error(nil)"'
same 'a number as error' './prog -e "error(7, 0)"'
same 'a boolean as error' './prog -e "error(false)"'
same 'os.exit with a number' './prog exit.lua 7'
same 'os.exit with true' './prog exit.lua true'
same 'os.exit with false' './prog exit.lua false'
same 'what is closed at the end' './prog close.lua'
same 'byte order mark and #!' './prog bom.lua'
same '-e' './prog -e "print(1)" "-eprint(2)" -ea=3 -e "print(a)"'
same '-e with an error' './prog -e "error \"x\""'
same '-e with a syntax error' './prog -e a'
same '-e stops at the first error' './prog -e "error(1)" -e "print(2)"'
same '-e and a script' './prog -e "print(arg[0])" args.lua x'
same '-e changes arg' './prog -e "arg[1] = 100" -' 'print(...)'
same '-e breaks arg' './prog -e "arg = 1" -'
same '-l' './prog -l mod -lmod -l string -e "print(mod.x, string == _G.string)"'
same '-l with a name' './prog -l m=mod "-ls=string" -e "print(m.x, s == string, mod)"'
same '-l of nothing there' './prog -l nosuchmodule'
same '-l of a module that fails' './prog -l syntax'
same '-l with nothing before =' './prog -l =mod'
same '-v' './prog -v'
same '-v with -e' './prog -v -e "print 1"'
same '-v and a script' './prog -v args.lua'
same '-E' 'LUA_INIT="print(1)" LUA_PATH=x ./prog -E -e "print(package.path)"'
same '-W' './prog -W -e "warn(\"a\", \"b\")"'
same '-W and finalizers' './prog -W gcwarn.lua'
same 'warn @on' './prog warn.lua'
same 'warnings are off at first' './prog -e "warn(1)"'
same 'LUA_INIT' 'LUA_INIT="print(arg[1])" ./prog args.lua x'
same 'LUA_INIT_5_4 wins' 'LUA_INIT_5_4="print(4)" LUA_INIT=x ./prog args.lua'
same 'LUA_INIT with a file' 'LUA_INIT=@mod.lua ./prog args.lua'
same 'LUA_INIT with an error' 'LUA_INIT="error(\"msg\")" ./prog args.lua'
same 'LUA_INIT without its file' 'LUA_INIT=@nofile ./prog args.lua'
same 'LUA_INIT, empty' 'LUA_INIT= ./prog args.lua'
same 'LUA_PATH' 'LUA_PATH="a;;b" ./prog -e "print(package.path)"'
same 'LUA_CPATH_5_4' 'LUA_CPATH_5_4=y ./prog -e "print(package.cpath)"'
same 'an empty environment' 'env -i ./prog -e "print(package.path)"'
same 'the collector' './prog nested.lua'
same '-i on a pipe' './prog -i' 'a = 2\na\n=a\n1,nil,"x"\n\nprint(a)\n'
same '-i, several lines' './prog -i' 'for i = 1, 2 do\n\nprint(i) end\nf(\n1)\n'
same '-i, errors' './prog -i' 'x x\nerror "e"\nerror {}\nlocal a = 1\na\n'
same '-i, the last line has no end' './prog -i' 'print(1)'
same '-i, prompts' './prog -e "_PROMPT=\"p \" _PROMPT2=7" -i' 'a =\n1\na\n'
same '-i after a script' './prog -i args.lua x' 'print(arg[1])\n'
same '-i after an error' './prog -i fail.lua' 'print(1)\n'
same '-i after a bad -e' './prog -i -e "error(1)"' 'print(1)\n'
same '-i shares stdin' './prog -i' 'l = io.read()\nnext\nprint(l)\n'
same '-i after what has read stdin' './prog -i -e "print(io.read(0))"' '1\n2\n'
same '-i and numbers' './prog -i' 'n = io.read("n")\n5 print(n)\nprint(n)\n'
same '-i without print' './prog -e "print=nil" -i' '10\n'
same 'a prompt made by __tostring' './prog -i -e "C = 0 _PROMPT =
  setmetatable({}, { __tostring = function () C = C + 1 return C end })"' \
  ' --\na = 2\n'
same 'debug.debug' './prog -e "debug.debug()"' 'io.write(7)\ncont\n'

ours() { # NAME EXPECTED COMMAND: what only our program does
  count=$((count + 1))
  : >"$work/input"
  got=$(outcome cbench "$3" | sed 's/^--- .*//' | tr '\n' '|' | tr -s '|')
  if [ "$got" = "$2" ]; then
    echo "ok $count - $1"
  else
    echo "not ok $count - $1"
    echo "# expected $2"
    echo "# got      $got"
  fi
}

# The stock interpreter leaves with 0 here.
ours 'no words, an error on stdin' \
  'exit code 1|prog: stdin:1: x|stack traceback:|	[C]: in function '\''error'\''|	stdin:1: in main chunk|	[C]: in ?|' \
  'echo "error \"x\"" | PATH=. prog'
for option in -h --- -Ex -vv -iv; do
  ours "unknown option $option" \
    "exit code 2|prog: unrecognized option '$option'|usage: prog [options] SCENARIO [name=value]...   (see prog --help)|" \
    "PATH=. prog $option"
done
for option in -e -l; do
  ours "$option wants a value" \
    "exit code 2|prog: '$option' needs argument|usage: prog [options] SCENARIO [name=value]...   (see prog --help)|" \
    "PATH=. prog $option"
done

# SIGINT becomes an error that pcall catches, and the script goes on. Under
# ThreadSanitizer it comes when a function is called that is watched, as one is
# to make a table.
watched=
case ${SANITIZE:-no} in *thread*) watched='local _ = {}' ;; esac
count=$((count + 1))
mkfifo "$work/pipe"
"$CBENCH" -e 'io.stdout:setvbuf "line"
  print(pcall(function () print "ready" while true do '"$watched"' end end))
  print "on"' >"$work/pipe" &
child=$!
{ sleep 60 && kill -KILL $child; } 2>/dev/null &
watchdog=$!
{
  read -r ready
  kill -INT "$child"
  read -r caught
  read -r after
} <"$work/pipe"
wait "$child"
code=$?
kill $watchdog 2>/dev/null
[ "$code $ready $after" = '0 ready on' ] &&
  case $caught in *interrupted!*) true ;; *) false ;; esac &&
  echo "ok $count - SIGINT is an error" ||
  echo "not ok $count - SIGINT is an error: $code $ready $caught $after"

# A second SIGINT ends what the first could not: a long search in C. The first
# is sent when the process has computed for 50 ms, so that the search has begun.
count=$((count + 1))
if [ -n "$watched" ]; then
  echo "ok $count - a second SIGINT # SKIP ThreadSanitizer hands on one signal"
  exit 0
fi
busy() { # clock ticks of 10 ms, 99 when the process is gone
  set -- $(cut -d' ' -f3,14 "/proc/$child/stat" 2>/dev/null) Z 99
  [ "$1" != Z ] && echo "$2" || echo 99
}
"$CBENCH" -e 'io.stdout:setvbuf "line" print "ready"
  string.find(string.rep("a", 300000), ".*b")' >"$work/pipe" 2>/dev/null &
child=$!
kills=0
{
  read -r ready
  while [ "$(busy)" -lt 5 ]; do :; done
  while [ $kills -lt 100000 ] && [ "$(busy)" != 99 ] &&
    kill -INT "$child" 2>/dev/null; do
    kills=$((kills + 1))
  done
} <"$work/pipe"
wait "$child"
code=$?
[ "$code $ready" = '130 ready' ] && [ $kills -ge 2 ] &&
  echo "ok $count - a second SIGINT ends a long search" ||
  echo "not ok $count - a second SIGINT ends a long search: $code after $kills"
