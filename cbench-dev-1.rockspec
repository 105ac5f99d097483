rockspec_format = "3.0"
package = "cbench"
version = "dev-1"
source = { url = "." }
description = {
  summary = "What a primitive costs, in ticks, on this machine",
  detailed = [[
A micro-benchmark toolkit: coroutines, pools, rings, locks and services, and
work of your own, measured in C and described in Lua. `luarocks make` in a
checkout or a release builds the module from it; nothing is fetched. Needed are
a C compiler, make, jansson and hwloc; in a checkout the autotools as well.]],
  license = "MIT",
}
supported_platforms = { "linux" }
dependencies = { "lua >= 5.4, < 5.5" }
external_dependencies = { JANSSON = { header = "jansson.h" } }
build = {
  type = "command",
  build_command = "sh build-aux/rock build",
  install_command = "sh build-aux/rock install '$(LIBDIR)'",
}
