std = "lua54"
max_line_length = 80
-- The parts of the module get import and core as arguments.
files["tests/lua"] = { std = "lua54+busted" }
