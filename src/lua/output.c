/*
 * output.c - files of results: written whole or not at all.
 *
 * "whole": the text goes to a temporary file beside the wanted one, which it
 * replaces by a rename when it is complete; whoever reads the path sees the
 * old file or the new one. What is no regular file (a device, a pipe) is
 * written directly. "append": each write is one write(2) at the end of the
 * file, so that lines of several processes do not mix.
 */
#include "lua/core.h"

#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define OUTPUT "cbench.output"

enum { ATTEMPTS = 100 };

struct output {
  int fd; /* -1: closed */
  bool append;
  char *path;
  char *temporary; /* NULL: path is written directly */
};

static int failure(lua_State *L, const char *path, int error)
{
  lua_pushnil(L);
  lua_pushfstring(L, "cannot write '%s': %s", path, strerror(error));
  lua_pushstring(L, strerrorname_np(error));
  return 3;
}

static void discard(struct output *output)
{
  if (output->fd >= 0)
    close(output->fd);
  if (output->temporary)
    unlink(output->temporary);
  free(output->temporary);
  free(output->path);
  *output = (struct output){.fd = -1};
}

static struct output *check_output(lua_State *L)
{
  struct output *output = luaL_checkudata(L, 1, OUTPUT);
  if (output->fd < 0)
    luaL_error(L, "output is closed");
  return output;
}

/* Opens a new file beside path; the mode follows the umask. */
static int open_beside(struct output *output)
{
  static unsigned attempt;
  size_t size = strlen(output->path) + 40;
  output->temporary = malloc(size);
  if (!output->temporary)
    return -ENOMEM;
  for (int i = 0; i < ATTEMPTS; i++) {
    snprintf(output->temporary, size, "%s.%ld-%u.new", output->path,
             (long)getpid(), attempt++);
    output->fd =
        open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (output->fd >= 0)
      return 0;
    if (errno != EEXIST)
      break;
  }
  int error = errno;
  free(output->temporary);
  output->temporary = NULL;
  return -error;
}

/* A file that exists must be writable, and hands its mode on. */
static int open_whole(struct output *output, const char *path)
{
  struct stat before;
  bool exists = stat(path, &before) == 0;
  if (exists && access(path, W_OK) != 0)
    return -errno;
  if (exists && !S_ISREG(before.st_mode)) {
    output->path = strdup(path);
    output->fd = open(path, O_WRONLY | O_CLOEXEC);
    return output->fd < 0 ? -errno : 0;
  }
  /* Through a symbolic link it is the target that is replaced. */
  output->path = exists ? realpath(path, NULL) : strdup(path);
  if (!output->path)
    return -errno;
  int result = open_beside(output);
  if (result == 0 && exists)
    result = fchmod(output->fd, before.st_mode & 07777) ? -errno : 0;
  return result;
}

static int open_append(struct output *output, const char *path)
{
  output->append = true;
  output->path = strdup(path);
  output->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  return output->fd < 0 ? -errno : 0;
}

/* A line that was appended in part cannot be continued, since another process
 * may have written behind it, and is no line for who reads the file. Where
 * nobody has, it is taken away again. */
static void take_back(int fd, ssize_t written)
{
  struct stat now;
  off_t end = lseek(fd, 0, SEEK_CUR);
  if (fstat(fd, &now) != 0 || !S_ISREG(now.st_mode) || now.st_size != end)
    return;
  while (ftruncate(fd, end - written) != 0 && errno == EINTR)
    ;
}

/* write(2) beyond the limit on a file's size is an error, EFBIG; the signal
 * that comes with it would end the process, and is taken back. It is sent to
 * the thread that writes, so that no other has to be looked at. */
static ssize_t write_some(int fd, const char *text, size_t length)
{
  sigset_t limit, before, pending;
  sigemptyset(&limit);
  sigaddset(&limit, SIGXFSZ);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &limit, &before);
  ssize_t written = write(fd, text, length);
  int error = errno;
  if (written < 0 && error == EFBIG && !sigismember(&pending, SIGXFSZ))
    sigtimedwait(&limit, NULL, &(struct timespec){0});
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return written;
}

static int write_all(const struct output *output, const char *text,
                     size_t length)
{
  while (length > 0) {
    ssize_t written = write_some(output->fd, text, length);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return -errno;
    if (written == 0)
      return -ENOSPC;
    if (output->append && (size_t)written < length) {
      take_back(output->fd, written);
      return -ENOSPC;
    }
    text += written;
    length -= (size_t)written;
  }
  return 0;
}

/* output:write(text): true, or nil, a sentence and the name of the error. */
static int output_write(lua_State *L)
{
  struct output *output = check_output(L);
  size_t length;
  const char *text = luaL_checklstring(L, 2, &length);
  int result = write_all(output, text, length);
  if (result < 0)
    return failure(L, output->path, -result);
  lua_pushboolean(L, 1);
  return 1;
}

static int finish(struct output *output)
{
  int fd = output->fd;
  /* What cannot be synchronised (a pipe, a device) need not be. */
  if (fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
    return -errno;
  output->fd = -1;
  if (close(fd) != 0)
    return -errno;
  if (!output->temporary)
    return 0;
  if (rename(output->temporary, output->path) != 0)
    return -errno;
  free(output->temporary);
  output->temporary = NULL;
  return 0;
}

/* output:commit(): closes it, the text stands under its name from now on. */
static int output_commit(lua_State *L)
{
  struct output *output = check_output(L);
  lua_pushstring(L, output->path);
  int result = finish(output);
  discard(output);
  if (result < 0)
    return failure(L, lua_tostring(L, -1), -result);
  lua_pushboolean(L, 1);
  return 1;
}

/* output:close(): forgets a whole file that was not committed. */
static int output_close(lua_State *L)
{
  discard(luaL_checkudata(L, 1, OUTPUT));
  return 0;
}

static int output_tostring(lua_State *L)
{
  const struct output *output = luaL_checkudata(L, 1, OUTPUT);
  lua_pushfstring(L, "cbench.output (%s)",
                  output->fd < 0 ? "closed" : output->path);
  return 1;
}

static const luaL_Reg methods[] = {{"close", output_close},
                                   {"commit", output_commit},
                                   {"write", output_write},
                                   {NULL, NULL}};

static const luaL_Reg metamethods[] = {{"__close", output_close},
                                       {"__gc", output_close},
                                       {"__tostring", output_tostring},
                                       {NULL, NULL}};

int cb_lua_output(lua_State *L)
{
  static const char *const modes[] = {"whole", "append", NULL};
  const char *path = luaL_checkstring(L, 1);
  bool append = luaL_checkoption(L, 2, "whole", modes) == 1;
  struct output *output = lua_newuserdatauv(L, sizeof *output, 0);
  *output = (struct output){.fd = -1};
  if (luaL_newmetatable(L, OUTPUT)) {
    luaL_setfuncs(L, metamethods, 0);
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
  }
  lua_setmetatable(L, -2);
  int result = append ? open_append(output, path) : open_whole(output, path);
  if (result < 0) {
    discard(output);
    return failure(L, path, -result);
  }
  return 1;
}
