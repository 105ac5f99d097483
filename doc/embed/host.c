/*
 * host.c - cbench in a program that has Lua states of its own: several at
 * once, each with its own rings, pools and services, closed in any order.
 *
 *   make host && LUA_CPATH=.../?.so ./host
 *
 * The module is found as any other, through package.cpath. When the last state
 * is closed nothing is left: no memory of its allocator, no thread, no signal
 * handler.
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATES = 3, TURNS = 5 };

static const char script[] =
    "local cbench = require 'cbench'\n"
    "local number = ...\n"
    "ring = cbench.ring { 'spsc', size = 8 }\n"
    "ring:enqueue(number)\n"
    "pool = cbench.pool { 'batch_spare' }\n"
    "pool:prefill(4)\n"
    "set = cbench.services {}\n"
    "service = set:register { name = 'count', call = function ()\n"
    "  runs = (runs or 0) + 1\n"
    "end }\n"
    "service:component(true) service:start()\n"
    "for _ = 1, number do service:run() end\n"
    "lcore = set:lcore {}\n"
    "nop = set:register { name = 'nop', call = 'nop' }\n"
    "nop:component(true) nop:map(lcore) nop:start() lcore:start()\n"
    "co = cbench.coroutine.create(function (a)\n"
    "  while true do a = cbench.coroutine.yield(a + number) end\n"
    "end)\n"
    "chain = cbench.workload.chain {}\n"
    "row = cbench.measure(chain, { time = 20, rounds = 2 })\n"
    "return ring:dequeue() + runs + co:enter(100), row.status\n";

/* Counts what a state has allocated. */
static void *count_memory(void *opaque, void *block, size_t old, size_t size)
{
  size_t *total = opaque;
  if (!block)
    old = 0;
  if (size == 0) {
    *total -= old;
    free(block);
    return NULL;
  }
  void *moved = realloc(block, size);
  if (moved)
    *total += size - old;
  return moved;
}

static int threads(void)
{
  char line[200];
  int count = -1;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "Threads: %d", &count) == 1)
      break;
  if (file)
    fclose(file);
  return count;
}

/* How many signals have a handler. */
static int handlers(void)
{
  int count = 0;
  for (int number = 1; number < SIGRTMIN; number++) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL &&
        action.sa_handler != SIG_IGN)
      count++;
  }
  return count;
}

static int run(lua_State *L, int number)
{
  luaL_openlibs(L);
  if (luaL_loadstring(L, script) == LUA_OK) {
    lua_pushinteger(L, number);
    if (lua_pcall(L, 1, 2, 0) == LUA_OK)
      return 0;
  }
  fprintf(stderr, "host: %s\n", lua_tostring(L, -1));
  return -1;
}

int main(void)
{
  size_t memory = 0;
  int handled = handlers();
  for (int turn = 0; turn < TURNS; turn++) {
    lua_State *states[STATES];
    for (int i = 0; i < STATES; i++) {
      states[i] = lua_newstate(count_memory, &memory);
      if (!states[i] || run(states[i], i + 1) < 0)
        return EXIT_FAILURE;
      if (turn == 0)
        printf("state %d: %lld, %s\n", i + 1,
               (long long)lua_tointeger(states[i], -2),
               lua_tostring(states[i], -1));
    }
    for (int i = 0; i < STATES; i++)
      lua_close(states[(turn + i) % STATES]);
  }
  printf("left: %zu bytes, %d thread, %d signal handlers\n", memory, threads(),
         handlers() - handled);
  return EXIT_SUCCESS;
}
