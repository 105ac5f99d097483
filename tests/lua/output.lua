-- Files are written whole, or not at all.
local support = dofile(os.getenv "top_srcdir" .. "/tests/lua/support.lua")

local output = support.core.output

local folder

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local content = file:read "a"
  file:close()
  return content
end

local function shell(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "a"
  pipe:close()
  return (text:gsub("%s+$", ""))
end

describe("an output", function ()
  setup(function () folder = shell "mktemp -d" end)
  teardown(function () shell("rm -rf '" .. folder .. "'") end)

  local function path(name) return folder .. "/" .. name end
  local function listing() return shell("ls -A '" .. folder .. "'") end

  it("appears with its commit and not before", function ()
    local file = assert(output(path "a"))
    assert.is_true(file:write "one ")
    assert.is_nil(read(path "a"))
    assert.is_true(file:write "two")
    assert.is_true(file:commit())
    assert.equal("one two", read(path "a"))
    assert.equal("a", listing())
    os.remove(path "a")
  end)

  it("leaves nothing behind when it is given up", function ()
    do
      local file <close> = assert(output(path "b"))
      file:write "text"
    end
    local file = assert(output(path "b"))
    file:write "text"
    file = nil -- luacheck: ignore
    collectgarbage()
    assert.equal("", listing())
  end)

  it("keeps the old file until the new one is whole", function ()
    assert(io.open(path "c", "w")):write("old"):close()
    local file = assert(output(path "c"))
    file:write "new"
    assert.equal("old", read(path "c"))
    file:commit()
    assert.equal("new", read(path "c"))
    os.remove(path "c")
  end)

  it("keeps the mode of the old file, and follows links", function ()
    assert(io.open(path "d", "w")):close()
    shell(("chmod 640 '%s'; ln -s d '%s'"):format(path "d", path "link"))
    local file = assert(output(path "link"))
    file:write "x"
    file:commit()
    assert.equal("x", read(path "d"))
    assert.equal("640", shell("stat -c %a '" .. path "d" .. "'"))
    assert.equal("d", shell("readlink '" .. path "link" .. "'"))
    os.remove(path "d")
    os.remove(path "link")
  end)

  it("appends when asked to", function ()
    for _ = 1, 2 do
      local file = assert(output(path "e", "append"))
      assert.is_true(file:write "line\n")
      assert.is_true(file:commit())
    end
    assert.equal("line\nline\n", read(path "e"))
    os.remove(path "e")
  end)

  it("goes to a device directly", function ()
    local file = assert(output "/dev/null")
    assert.is_true(file:write "text")
    assert.is_true(file:commit())
  end)

  it("says when the disk is full", function ()
    for _, mode in ipairs { "whole", "append" } do
      local file = assert(output("/dev/full", mode))
      local done, message, code = file:write "text"
      assert.is_nil(done)
      assert.equal("cannot write '/dev/full': No space left on device",
        message)
      assert.equal("ENOSPC", code)
      file:close()
    end
  end)

  it("says why it cannot be opened", function ()
    local file, message, code = output(path "no/such/file")
    assert.is_nil(file)
    assert.equal("cannot write '" .. path "no/such/file" ..
      "': No such file or directory", message)
    assert.equal("ENOENT", code)
    file, message, code = output(folder)
    assert.is_nil(file)
    assert.is_truthy(message:find("Is a directory", 1, true))
    assert.equal("EISDIR", code)
  end)

  it("is closed once and for all", function ()
    local file = assert(output(path "f"))
    assert.is_truthy(tostring(file):find(path "f", 1, true))
    file:close()
    file:close()
    assert.has_error(function () file:write "x" end, "output is closed")
    assert.has_error(function () file:commit() end, "output is closed")
    assert.equal("cbench.output (closed)", tostring(file))
    assert.equal("", listing())
  end)

  it("wants a path and a mode it knows", function ()
    assert.has_error(function () output() end)
    assert.has_error(function () output(path "g", "sideways") end)
    assert.equal("", listing())
  end)
end)
