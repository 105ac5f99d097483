#include "lua/terminal.h"

#include <lauxlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_UNKNOWN = 80 };

int cb_lua_columns(lua_State *L)
{
  int fd = (int)luaL_checkinteger(L, 1);
  struct winsize size;

  if (!isatty(fd))
    return 0;
  bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  lua_pushinteger(L, known ? size.ws_col : COLUMNS_UNKNOWN);
  return 1;
}
