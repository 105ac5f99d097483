--- gnuplot, found at run time and driven through a pipe.
--
-- What comes out of a results file never becomes part of a command. Every text
-- stands in one block of data, a line each, and the commands speak of it as
-- `$text[7][2:*]`; numbers stand in blocks of their own. So a title may hold
-- quotes, back quotes, markup or a hundred commands: gnuplot draws them.
local import, core = ...
local markup = import "markup"

local gnuplot = {
  --- Seconds that it may work, or be idle at a stretch.
  limit = 20,
  --- What to do when there is none.
  advice = "gnuplot is not installed, so there are no pictures "
    .. "(Debian: apt-get install gnuplot-nox)",
}

--- The path of gnuplot, or nil.
function gnuplot.find()
  for folder in (os.getenv "PATH" or ""):gmatch "[^:]+" do
    local path = folder .. "/gnuplot"
    local file = folder:find "^/" and io.open(path, "rb")
    if file then
      file:close()
      return path
    end
  end
end

-- ---- what is drawn

local methods = {}
local canvas_meta = { __index = methods }

-- Pixels of a PNG file for one of the drawing: text stays sharp when a page
-- scales it.
local density = 2

--- Something to draw on.
-- @param terminal "svg", "png" or "dumb"
-- @param width in pixels, or in columns
-- @param height in pixels, or in lines
function gnuplot.canvas(terminal, width, height)
  return setmetatable({ terminal = terminal, width = width, height = height,
    whole = height, below = 0, texts = {}, places = {}, blocks = {},
    commands = {} }, canvas_meta)
end

--- A part of the canvas for a picture of its own, as wide as the whole.
-- @param height of the part
-- @param below what is under it
function methods:panel(height, below)
  local panel = setmetatable({}, canvas_meta)
  for key, value in pairs(self) do panel[key] = value end
  panel.height, panel.below = height, below
  self:add "reset"
  self:add("set size 1, %.6f", height / self.whole)
  self:add("set origin 0, %.6f", below / self.whole)
  return panel
end

--- Whether there is little room, so that words have to be few.
function methods:is_narrow()
  return not self:is_text() and self.width < 500
end

--- Whether it is made of characters: no colours, no fills, few symbols.
function methods:is_text()
  return self.terminal == "dumb"
end

--- What to write in a command for a text.
-- @param s any text
-- @param most characters of it (60)
function methods:text(s, most)
  s = markup.clip(s, most or 60)
  if not self.places[s] then
    self.texts[#self.texts + 1] = s
    self.places[s] = #self.texts
  end
  return ("$text[%d][2:*]"):format(self.places[s])
end

local function number(x)
  if math.type(x) == "integer" then return ("%d"):format(x) end
  if type(x) ~= "number" or x ~= x or x - x ~= 0 then return "NaN" end
  return ("%.12g"):format(x)
end
methods.number = function (_, x) return number(x) end

--- What to write in a command for rows of numbers; nil stands for none.
-- @param rows a list of lists
-- @param columns how many each has
function methods:data(rows, columns)
  local lines = {}
  for i, row in ipairs(rows) do
    local cells = {}
    for c = 1, columns do cells[c] = number(row[c]) end
    lines[i] = table.concat(cells, " ")
  end
  self.blocks[#self.blocks + 1] = table.concat(lines, "\n")
  return "$data" .. #self.blocks
end

--- A command. Whatever is filled in is a number, or came from `text` or
-- `data`.
function methods:add(command, ...)
  self.commands[#self.commands + 1] =
    select("#", ...) > 0 and command:format(...) or command
end

--- Several plots in one frame: each is what follows the word `plot`.
function methods:plot(parts)
  self:add("plot " .. table.concat(parts, ", "))
end

local terminals = {
  svg = "set terminal svg size %d,%d dynamic noenhanced font 'sans-serif,%d'",
  png = "set terminal pngcairo size %d,%d noenhanced font 'sans-serif,%d' "
    .. "background '#ffffff' linewidth 2 pointscale 2",
  dumb = "set terminal dumb size %d,%d noenhanced mono",
}

--- The whole program for gnuplot.
function methods:script()
  local font = self:is_narrow() and 12 or 13
  local times = self.terminal == "png" and density or 1
  local lines = {
    "set encoding utf8",
    terminals[self.terminal]:format(self.width * times, self.whole * times,
      times > 1 and font * times * 3 // 4 or font),
    "$text << END_OF_TEXT",
  }
  -- A line that begins with "|" is no end of the block, whatever follows.
  for _, s in ipairs(self.texts) do lines[#lines + 1] = "|" .. s end
  lines[#lines + 1] = "END_OF_TEXT"
  for i, block in ipairs(self.blocks) do
    lines[#lines + 1] = ("$data%d << END_OF_DATA\n%s\nEND_OF_DATA"):format(i,
      block)
  end
  table.move(self.commands, 1, #self.commands, #lines + 1, lines)
  return table.concat(lines, "\n") .. "\n"
end

-- ---- running it

-- gnuplot's own complaint, in one line: what follows "line 12:", which stands
-- below an echo of the command.
local function complaint(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local content = file:read(65536) or ""
  file:close()
  local words = content:match "line %d+: ([^\n]+)" or
    content:match "^%s*([^\n]+)"
  return words and markup.clip(words, 120)
end

-- Its messages go into a file of their own: only the picture comes back
-- through the pipe.
local command = 'exec "$0" -d - 2>"$1"'

local function run(script)
  local path = gnuplot.find()
  if not path then return nil, gnuplot.advice, true end
  local messages = os.tmpname()
  local output, how, code, forced = core.run_program(
    { "/bin/sh", "-c", command, path, messages }, script, gnuplot.limit, true)
  local why = complaint(messages)
  os.remove(messages)
  if not output then
    return nil, "gnuplot cannot be started: " .. how, true
  elseif forced then
    return nil, ("gnuplot did not finish within %g s"):format(gnuplot.limit),
      true
  elseif how == "signal" then
    return nil, ("gnuplot was ended by signal %d"):format(code)
  elseif code ~= 0 then
    return nil, ("gnuplot failed: %s"):format(why or "exit code " .. code)
  elseif output == "" then
    return nil, "gnuplot drew nothing" .. (why and ": " .. why or "")
  end
  return output
end

--- Draws what stands on the canvas.
-- @return the picture's text; or nil and a sentence, and true when there is no
-- use in trying again
function gnuplot.draw(canvas)
  return run(canvas:script())
end

--- Draws several SVG pictures at once, which spares starting gnuplot for each.
-- @return a list of texts; or nil, a sentence and whether to give up
function gnuplot.draw_svgs(canvases)
  local scripts, list = {}, {}
  for i, canvas in ipairs(canvases) do scripts[i] = canvas:script() end
  local output, message, hopeless = run(table.concat(scripts,
    "reset session\n"))
  if not output then return nil, message, hopeless end
  for text in output:gmatch "<svg.-</svg>" do list[#list + 1] = text end
  if #list ~= #canvases then
    return nil, ("gnuplot drew %d of %d pictures"):format(#list, #canvases)
  end
  return list
end

return gnuplot
