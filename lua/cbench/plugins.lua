--- Plug-ins: shared objects that add kinds of their own.
local import, core = ...

local plugins = {}

local function exists(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

-- Where a plug-in that is named without a slash is looked for.
local function folders()
  local list = {}
  for folder in (os.getenv "CBENCH_PLUGIN_PATH" or ""):gmatch "[^:]+" do
    list[#list + 1] = folder
  end
  -- A program that was not installed has the plug-ins of its build beside it.
  local program = import("processes").program()
  local home = program and program:match "^(.*)/[^/]*$"
  if home then list[#list + 1] = home .. "/peers/.libs" end
  list[#list + 1] = core.plugin_folder()
  return list
end

--- The path of a plug-in: what has a slash is one; any other word is a file
-- here, or NAME or NAME.so in $CBENCH_PLUGIN_PATH or among those installed.
-- @return the path; or nil, a sentence and "ENOENT"
function plugins.find(word)
  if word:find("/", 1, true) then return word end
  if exists("./" .. word) then return "./" .. word end
  local searched = folders()
  for _, folder in ipairs(searched) do
    for _, name in ipairs { word, word .. ".so" } do
      local path = folder .. "/" .. name
      if exists(path) then return path end
    end
  end
  return nil, ("cannot find plug-in '%s' (neither here nor in %s)"):format(
    word, table.concat(searched, ", ")), "ENOENT"
end

-- By path: loaded for its names only; whoever measures brings a version.
local described = {}

--- The plug-ins that are loaded, as { path, prefix, name, kinds... }.
function plugins.loaded()
  local list = {}
  for _, plugin in ipairs(core.plugins()) do
    if not described[plugin.path] then list[#list + 1] = plugin end
  end
  return list
end

--- Adds the kinds of a plug-in; its name and path as `plugins.find` takes it.
-- @return its entry of `plugins.loaded`; or nil, a sentence and a code
function plugins.load(word, prefix)
  local path, message, code = plugins.find(word)
  if not path then return nil, message, code end
  return core.load_plugin(path, prefix)
end

--- Loads a plug-in so that rows with its kinds can be described, but not for
-- the processes that measure them. A second version brings no new names.
-- @return true; or nil and a sentence
function plugins.describe(path)
  local plugin, message, code = plugins.load(path)
  if not plugin and code ~= "EEXIST" then return nil, message end
  if plugin then described[plugin.path] = true end
  return true
end

--- `cbench.load(path [, prefix])`: raises on misuse.
function plugins.call(word, prefix)
  if type(word) ~= "string" then
    error(("bad argument #1 to 'load' (string expected, got %s)"):format(
      type(word)), 2)
  elseif prefix ~= nil and (type(prefix) ~= "string"
      or not prefix:match "^[%a_][%w_]*$") then
    error(("bad argument #2 to 'load' (an identifier expected, got %s)"):format(
      type(prefix) == "string" and "'" .. prefix .. "'" or type(prefix)), 2)
  end
  return plugins.load(word, prefix)
end

return plugins
