/*
 * compile.c - runs the compiler in a folder of its own under $TMPDIR, loads
 * what comes out, and removes the folder: a shared object that is loaded needs
 * its file no more. The headers it may include are written there too, so it
 * makes no difference whether, and where, cbench is installed.
 *
 * As long as the folder is there, the signals that end processes wait: nobody
 * else would remove it. One that came ends the compiler, and does what it does
 * when the folder is gone.
 */
#include "workload/compile.h"

#include "base/embedded.h"
#include "workload/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
extern const struct cb_embedded cb_embedded_headers[];

enum { WORDS_MAX = 128 };

static const char *const files[] = {"statement.c", "statement.so", "messages",
                                    NULL};

struct folder {
  char path[200];
  char name[240]; /* of the file asked for last */
};

/* ---- signals ---- */

static const int ending[] = {SIGHUP, SIGINT, SIGTERM};
enum { ENDING = sizeof ending / sizeof ending[0] };

/* What is ignored stays so: blocked, it would be pending all the same. */
static void hold_signals(sigset_t *before)
{
  struct sigaction action;
  sigset_t held;

  sigemptyset(&held);
  for (int i = 0; i < ENDING; i++)
    if (sigaction(ending[i], NULL, &action) == 0 &&
        action.sa_handler != SIG_IGN)
      sigaddset(&held, ending[i]);
  pthread_sigmask(SIG_BLOCK, &held, before);
}

/* Has one of them come that we hold? */
static bool is_over(void)
{
  sigset_t pending, held;
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, NULL, &held);
  for (int i = 0; i < ENDING; i++)
    if (sigismember(&pending, ending[i]) && sigismember(&held, ending[i]))
      return true;
  return false;
}

/* ---- the folder ---- */

static const char *in_folder(struct folder *folder, const char *name)
{
  snprintf(folder->name, sizeof folder->name, "%s/%s", folder->path, name);
  return folder->name;
}

static int make_folder(struct folder *folder, struct cb_error *error)
{
  const char *home = getenv("TMPDIR");
  snprintf(folder->path, sizeof folder->path, "%.150s/cbench-XXXXXX",
           home && *home ? home : "/tmp");
  if (!mkdtemp(folder->path))
    return cb_fail(error, -errno, "cannot make the folder '%.120s': %s",
                   folder->path, strerror(errno));
  if (mkdir(in_folder(folder, "cbench"), 0700) == 0)
    return 0;
  int code = errno;
  rmdir(folder->path);
  return cb_fail(error, -code, "cannot make a temporary folder: %s",
                 strerror(code));
}

/* Where a header of the source tree is included from: as it is installed. */
static const char *place(const struct cb_embedded *header, char name[64])
{
  if (strncmp(header->name, "src/cbench", 10) == 0)
    snprintf(name, 64, "%s", header->name + 4);
  else
    snprintf(name, 64, "cbench%s", strrchr(header->name, '/'));
  return name;
}

static void remove_folder(struct folder *folder)
{
  char installed[64];
  for (const struct cb_embedded *it = cb_embedded_headers; it->name; it++)
    unlink(in_folder(folder, place(it, installed)));
  for (const char *const *name = files; *name; name++)
    unlink(in_folder(folder, *name));
  rmdir(in_folder(folder, "cbench"));
  rmdir(folder->path);
}

static int write_file(struct folder *folder, const char *name, const void *text,
                      size_t size, struct cb_error *error)
{
  FILE *file = fopen(in_folder(folder, name), "we");
  bool good = file && fwrite(text, 1, size, file) == size;
  if (file && fclose(file) != 0)
    good = false;
  if (!good)
    return cb_fail(error, -EIO, "cannot write '%.120s': %s", folder->name,
                   strerror(errno));
  return 0;
}

static int write_sources(struct folder *folder, const char *source,
                         struct cb_error *error)
{
  const struct cb_embedded *header = cb_embedded_headers;
  char name[64];
  for (; header->name; header++) {
    if (write_file(folder, place(header, name), header->text, header->size,
                   error) < 0)
      return error->code;
  }
  return write_file(folder, "statement.c", source, strlen(source), error);
}

/* Cuts text, which it changes, into words behind those that are there. */
static int add_words(char **words, int count, char *text,
                     struct cb_error *error)
{
  for (char *word; (word = strtok_r(text, " \t\n", &text));) {
    if (count == WORDS_MAX - 1)
      return cb_fail(error, -E2BIG, "too many words for the compiler");
    words[count++] = word;
  }
  words[count] = NULL;
  return count;
}

/* Waits for the compiler, and asks it to end when we shall: -EINTR then. */
static int await(pid_t pid)
{
  const struct timespec nap = {.tv_nsec = 1000000};
  bool over = false;
  int status;
  pid_t done;

  while ((done = waitpid(pid, &status, WNOHANG)) != pid) {
    if (done < 0 && errno != EINTR)
      return -errno;
    if (!over && is_over()) {
      over = true;
      kill(pid, SIGTERM);
    }
    nanosleep(&nap, NULL);
  }
  if (over || is_over())
    return -EINTR;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* Its exit status, or a negative errno when it could not be started. */
static int run(struct folder *folder, char *const *words)
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  pid_t pid;

  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                   O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO,
                                   in_folder(folder, "messages"),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_init(&attributes);
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  int code =
      posix_spawnp(&pid, words[0], &actions, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return code ? -code : await(pid);
}

/* The first line of the messages that is an error, else the first line. */
static int report(struct folder *folder, const char *compiler,
                  struct cb_error *error)
{
  char line[400], first[200] = "it says nothing";
  FILE *file = fopen(in_folder(folder, "messages"), "re");
  bool any = false, found = false;
  while (file && !found && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    found = strstr(line, "error") || strstr(line, "undefined reference");
    if (!any || found)
      snprintf(first, sizeof first, "%.199s", line);
    any = true;
  }
  if (file)
    fclose(file);
  return cb_fail(error, -EINVAL, "%.30s cannot compile it: %s", compiler,
                 first);
}

static int compile(struct folder *folder, char *compiler, char *flags,
                   struct cb_error *error)
{
  char include[250], output[250], source[250];
  char *words[WORDS_MAX];
  int count = add_words(words, 0, compiler, error);
  if (count <= 0)
    return count ? count : cb_fail(error, -ENOENT, "$CC holds no compiler");
  snprintf(include, sizeof include, "-I%s", folder->path);
  snprintf(output, sizeof output, "-o%s", in_folder(folder, "statement.so"));
  snprintf(source, sizeof source, "%s", in_folder(folder, "statement.c"));
  char *const ours[] = {(char *)"-std=gnu11",
                        (char *)"-shared",
                        (char *)"-fPIC",
                        (char *)"-fvisibility=hidden",
                        (char *)"-w",
                        (char *)"-Wl,-z,defs",
                        include,
                        output,
                        source};
  size_t our_count = sizeof ours / sizeof *ours;
  if ((size_t)count + our_count >= WORDS_MAX)
    return cb_fail(error, -E2BIG, "too many words for the compiler");
  memcpy(words + count, ours, sizeof ours);
  count = add_words(words, count + (int)our_count, flags, error);
  if (count < 0)
    return count;
  int status = run(folder, words);
  if (status == -EINTR)
    return cb_fail(error, status, "stopped while the compiler ran");
  if (status < 0)
    return cb_fail(error, status, "cannot run the compiler '%.60s': %s",
                   words[0], strerror(-status));
  return status ? report(folder, words[0], error) : 0;
}

static const struct cb_plugin *
compile_and_load(const char *source, const char *flags, struct cb_error *error)
{
  struct folder folder;
  const char *named = getenv("CC");
  const struct cb_plugin *plugin = NULL;

  if (make_folder(&folder, error) < 0)
    return NULL;
  char *compiler = strdup(named && *named ? named : "cc");
  char *words = strdup(flags);
  if (!compiler || !words)
    cb_fail(error, -ENOMEM, "out of memory");
  else if (write_sources(&folder, source, error) == 0 &&
           compile(&folder, compiler, words, error) == 0)
    plugin = cb_plugin_open(in_folder(&folder, "statement.so"), error);
  free(compiler);
  free(words);
  remove_folder(&folder);
  return plugin;
}

const struct cb_plugin *cb_compile(const char *source, const char *flags,
                                   struct cb_error *error)
{
  struct cb_error own;
  sigset_t before;
  hold_signals(&before);
  const struct cb_plugin *plugin =
      compile_and_load(source, flags, error ? error : &own);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return plugin;
}
