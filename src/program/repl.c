/* repl.c - the prompt for people, on a terminal. */
#include "program/repl.h"

#include "program/host.h"

#include <unistd.h>

bool repl_is_fancy(void)
{
  return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

void repl_run(lua_State *L, bool greet)
{
  (void)greet;
  host_interact(L);
}
