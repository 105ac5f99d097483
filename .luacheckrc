std = "lua54"
max_line_length = 80
-- Transcripts of tables are as wide as the tables.
files["tests/lua"] = { std = "lua54+busted", max_string_line_length = false }
files["scenarios"] = { max_line_length = 90 }
