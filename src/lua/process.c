#include "lua/process.h"

#include "lua/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { ARGUMENTS_MAX = 64 };

/* Where a child that may note finds the file for it. */
enum { NOTE = 3 };

/* One child and our ends of its pipes. */
struct child {
  pid_t pid;
  int to;   /* its standard input, -1 once all is written */
  int from; /* its standard output, -1 at its end */
  int note; /* the file that it notes in, or -1 */
  const char *input;
  size_t left;
};

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void close_pair(int pair[2])
{
  close(pair[0]);
  close(pair[1]);
}

/* Signals that a host has blocked or ignored must reach the child; those that
 * stop it wait until it is ready for them. */
static void default_signals(posix_spawnattr_t *attributes)
{
  sigset_t held, defaults;
  sigemptyset(&held);
  sigaddset(&held, SIGINT);
  sigaddset(&held, CB_LUA_STOP_CHILD);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGTERM);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigmask(attributes, &held);
  posix_spawnattr_setsigdefault(attributes, &defaults);
  posix_spawnattr_setflags(attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn(struct child *child, char *const *argv, const int input[2],
                 const int output[2])
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  if (child->note >= 0)
    posix_spawn_file_actions_adddup2(&actions, child->note, NOTE);
  posix_spawnattr_init(&attributes);
  default_signals(&attributes);
  int code =
      posix_spawn(&child->pid, argv[0], &actions, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return code;
}

/* 0 or a positive errno. */
static int start(struct child *child, char *const *argv)
{
  int input[2], output[2];
  if (pipe2(input, O_CLOEXEC) < 0)
    return errno;
  if (pipe2(output, O_CLOEXEC) < 0) {
    int code = errno;
    close_pair(input);
    return code;
  }
  int code = spawn(child, argv, input, output);
  if (code) {
    close_pair(input);
    close_pair(output);
    return code;
  }
  close(input[0]);
  close(output[1]);
  child->to = input[1];
  child->from = output[0];
  fcntl(child->to, F_SETFL, O_NONBLOCK);
  return 0;
}

static void close_end(int *end)
{
  if (*end >= 0)
    close(*end);
  *end = -1;
}

static void feed(struct child *child)
{
  ssize_t written = write(child->to, child->input, child->left);
  if (written > 0) {
    child->input += written;
    child->left -= (size_t)written;
  }
  bool broken = written < 0 && errno != EAGAIN && errno != EINTR;
  if (child->left == 0 || broken)
    close_end(&child->to);
}

/* Appends what there is to the buffer at the top of the Lua stack. */
static void drain(struct child *child, luaL_Buffer *output)
{
  char *space = luaL_prepbuffsize(output, 65536);
  ssize_t got = read(child->from, space, 65536);
  if (got > 0)
    luaL_addsize(output, (size_t)got);
  else if (got == 0 || errno != EINTR)
    close_end(&child->from);
}

static void pass_on(const struct child *child, bool *passed)
{
  if (!cb_lua_stop_signal() || *passed)
    return;
  kill(child->pid, CB_LUA_STOP_CHILD);
  *passed = true;
}

/* Waits for one of the ends. Signals come in only here, so that none can slip
 * in between the look at its flag and the waiting. */
static int wait_for(struct pollfd ends[2], double seconds,
                    const struct child *child, bool *passed)
{
  struct timespec time = {.tv_sec = (time_t)seconds,
                          .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
  sigset_t stopping, before;
  sigemptyset(&stopping);
  sigaddset(&stopping, SIGINT);
  sigaddset(&stopping, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stopping, &before);
  pass_on(child, passed);
  int ready = ppoll(ends, 2, &time, &before);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return ready;
}

/* What the child has worked so far, in seconds of a CPU. */
static double worked(const struct child *child)
{
  clockid_t clock;
  struct timespec time;
  if (clock_getcpuclockid(child->pid, &clock) != 0 ||
      clock_gettime(clock, &time) < 0)
    return 0;
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* How long the child may take. With a limit of work the clock on the wall only
 * says when to look: a machine that is busy with others makes nothing fail. */
struct limit {
  double seconds, deadline;
  bool of_work;
  double before; /* what it had worked at the last look */
};

/* Who has worked a smaller share of the time has only been started. */
static const double idle = 0.005;

/* The child goes on if it worked since the last look, though not as long as it
 * may in all: one that computes without end reaches nearly that in one span. */
static bool may_go_on(struct limit *limit, const struct child *child)
{
  double so_far = worked(child);
  bool works = so_far > limit->before + idle * limit->seconds &&
               so_far < 0.9 * limit->seconds;
  if (!limit->of_work || !works)
    return false;
  limit->before = so_far;
  limit->deadline = now() + limit->seconds;
  return true;
}

/* Past its limit the child is asked, then forced, to end; at last it is not
 * waited for, since others may hold its output open. */
enum { ASKED = 1, FORCED, ABANDONED };

static int end_child(int forced, struct limit *limit, struct child *child)
{
  if (forced == 0 && may_go_on(limit, child))
    return 0;
  limit->deadline = now() + 1;
  if (++forced == ABANDONED)
    close_end(&child->from);
  else
    kill(child->pid, forced == ASKED ? SIGTERM : SIGKILL);
  return forced;
}

/* Moves input and output until the child has closed its output. */
static bool converse(struct child *child, luaL_Buffer *output,
                     struct limit *limit)
{
  int forced = 0;
  bool passed = false;
  while (child->from >= 0) {
    struct pollfd ends[2] = {{.fd = child->from, .events = POLLIN},
                             {.fd = child->to, .events = POLLOUT}};
    double left = limit->deadline - now();
    if (left <= 0) {
      forced = end_child(forced, limit, child);
      continue;
    }
    if (wait_for(ends, left, child, &passed) < 0)
      continue;
    if (ends[1].revents)
      feed(child);
    if (ends[0].revents)
      drain(child, output);
  }
  return forced > 0;
}

/* ---- what a child notes */

static volatile uint32_t *note;

/* Memory that both sides have, and that outlives whatever ends one of them. It
 * is a file for limits, beyond which a signal would end us. */
static int make_note(void)
{
  struct rlimit most;
  if (getrlimit(RLIMIT_FSIZE, &most) < 0 || most.rlim_cur < sizeof *note)
    return -1;
  int file = memfd_create("cbench", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, sizeof *note) < 0)
    close_end(&file);
  return file;
}

static uint32_t read_note(int file)
{
  uint32_t number = 0;
  if (file < 0 || pread(file, &number, sizeof number, 0) != sizeof number)
    return 0;
  return number;
}

int cb_lua_open_note(lua_State *L)
{
  struct stat status;
  (void)L;
  if (note || fstat(NOTE, &status) < 0 || status.st_size != sizeof *note)
    return 0;
  void *page =
      mmap(NULL, sizeof *note, PROT_READ | PROT_WRITE, MAP_SHARED, NOTE, 0);
  if (page != MAP_FAILED) {
    note = page;
    close(NOTE);
  }
  return 0;
}

void cb_lua_note(uint32_t number)
{
  if (note)
    *note = number;
}

/* ---- in Lua */

static int read_arguments(lua_State *L, char **argv)
{
  luaL_checktype(L, 1, LUA_TTABLE);
  int count = (int)lua_rawlen(L, 1);
  luaL_argcheck(L, count >= 1 && count < ARGUMENTS_MAX, 1,
                "1 to 63 words are wanted");
  for (int i = 0; i < count; i++) {
    lua_rawgeti(L, 1, i + 1);
    luaL_argcheck(L, lua_type(L, -1) == LUA_TSTRING, 1, "words are strings");
    argv[i] = (char *)lua_tostring(L, -1); /* stays in the table */
    lua_pop(L, 1);
  }
  argv[count] = NULL;
  return count;
}

/* A child that dies early must not kill us by SIGPIPE: it is ignored while
 * we write, and what was there is put back. */
int cb_lua_run_program(lua_State *L)
{
  char *argv[ARGUMENTS_MAX + 1];
  struct child child = {.note = -1};
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
  luaL_Buffer output;

  read_arguments(L, argv);
  child.input = luaL_checklstring(L, 2, &child.left);
  struct limit limit = {.seconds = luaL_checknumber(L, 3),
                        .of_work = lua_toboolean(L, 4)};
  bool noted = lua_toboolean(L, 5);
  luaL_buffinitsize(L, &output, 1 << 20);
  if (noted)
    child.note = make_note();
  sigaction(SIGPIPE, &ignore, &before);
  int code = start(&child, argv);
  limit.deadline = now() + limit.seconds;
  bool forced = !code && converse(&child, &output, &limit);
  close_end(&child.to);
  sigaction(SIGPIPE, &before, NULL);
  if (code)
    close_end(&child.note);
  if (code)
    return luaL_fileresult(L, (errno = code, 0), argv[0]);

  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
    ;
  luaL_pushresult(&output);
  lua_pushstring(L, WIFSIGNALED(status) ? "signal" : "exit");
  lua_pushinteger(L,
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  lua_pushboolean(L, forced);
  lua_pushinteger(L, read_note(child.note));
  close_end(&child.note);
  return 5;
}

int cb_lua_program(lua_State *L)
{
  char path[4096];
  if (lua_getfield(L, LUA_REGISTRYINDEX, CB_LUA_PROGRAM) == LUA_TNIL)
    return 0;
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0)
    return 0;
  lua_pushlstring(L, path, (size_t)length);
  return 1;
}
