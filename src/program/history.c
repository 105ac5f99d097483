/*
 * history.c - a file of plain lines.
 *
 * An entry of several lines is written as it stood on the screen: the lines
 * after its first begin with ">> ", which no Lua statement does. Entries are
 * appended when they are typed, in one write each, so that two sessions do not
 * mix them and none is lost when a session is killed. The file is cut back to
 * its last entries when a session begins.
 */
#include "program/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIMIT = 1000 };

static const char mark[] = ">> ";
static char *path, *last;
static bool unfinished; /* the file does not end with the end of a line */

/* ---- where ---- */

static char *join(const char *folder, const char *name)
{
  char *joined = NULL;
  if (asprintf(&joined, "%s/%s", folder, name) < 0)
    return NULL;
  return joined;
}

static void make_folders(char *file)
{
  for (char *slash = file + 1; (slash = strchr(slash, '/')); slash++) {
    *slash = 0;
    mkdir(file, 0700);
    *slash = '/';
  }
}

static char *find_path(void)
{
  const char *given = getenv("CBENCH_HISTORY");
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  if (given)
    return *given ? strdup(given) : NULL;
  if (state && *state == '/')
    return join(state, "cbench/history");
  return home && *home == '/' ? join(home, ".local/state/cbench/history")
                              : NULL;
}

/* ---- reading ---- */

struct entries {
  char **list;
  size_t count;
};

static bool append_entry(struct entries *entries, char *text)
{
  char **list =
      realloc(entries->list, (entries->count + 1) * sizeof *entries->list);
  if (!list)
    return false;
  entries->list = list;
  list[entries->count++] = text;
  return true;
}

static bool extend_entry(struct entries *entries, const char *line)
{
  char **entry = &entries->list[entries->count - 1], *longer;
  if (asprintf(&longer, "%s\n%s", *entry, line) < 0)
    return false;
  free(*entry);
  *entry = longer;
  return true;
}

static struct entries read_entries(FILE *file)
{
  struct entries entries = {0};
  char *line = NULL;
  size_t size = 0;
  ssize_t length;
  bool fine = true;

  while (fine && (length = getline(&line, &size, file)) >= 0) {
    if (length > 0 && line[length - 1] == '\n')
      line[length - 1] = 0;
    if (entries.count > 0 && strncmp(line, mark, sizeof mark - 1) == 0) {
      fine = extend_entry(&entries, line + sizeof mark - 1);
      continue;
    }
    char *copy = strdup(line);
    fine = copy && append_entry(&entries, copy);
    if (!fine)
      free(copy);
  }
  free(line);
  return entries;
}

/* ---- writing ---- */

static char *entry_text(const char *entry)
{
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out)
    return NULL;
  for (; *entry; entry++) {
    putc(*entry, out);
    if (*entry == '\n')
      fputs(mark, out);
  }
  putc('\n', out);
  if (fclose(out) != 0) {
    free(text);
    return NULL;
  }
  return text;
}

/* Whoever edits the file may have left its last line without an end. */
static bool ends_within_line(FILE *file)
{
  return fseek(file, -1, SEEK_END) == 0 && getc(file) != '\n';
}

static void write_entry(int fd, const char *entry)
{
  char *text = entry_text(entry);
  /* A write that fails loses an entry and nothing else. */
  if (text && write(fd, text, strlen(text)) < 0)
    errno = 0;
  free(text);
}

static void cut_back(const struct entries *entries)
{
  char *temporary = NULL;
  if (asprintf(&temporary, "%s.%ld", path, (long)getpid()) < 0)
    return;
  int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0) {
    for (size_t i = entries->count - LIMIT; i < entries->count; i++)
      write_entry(fd, entries->list[i]);
    if (close(fd) != 0 || rename(temporary, path) != 0)
      unlink(temporary);
    else
      unfinished = false;
  }
  free(temporary);
}

/* ---- together ---- */

void history_load(void (*each)(const char *entry))
{
  struct stat status;
  path = find_path();
  /* Only a regular file is read: a pipe would never end. */
  bool readable = path && stat(path, &status) == 0 && S_ISREG(status.st_mode);
  FILE *file = readable ? fopen(path, "re") : NULL;
  if (!file)
    return;
  struct entries entries = read_entries(file);
  unfinished = ends_within_line(file);
  fclose(file);
  size_t first = entries.count > LIMIT ? entries.count - LIMIT : 0;
  if (first > 0)
    cut_back(&entries);
  for (size_t i = first; i < entries.count; i++)
    each(entries.list[i]);
  if (entries.count > 0)
    last = strdup(entries.list[entries.count - 1]);
  for (size_t i = 0; i < entries.count; i++)
    free(entries.list[i]);
  free(entries.list);
}

void history_add(const char *entry)
{
  if (!path || (last && strcmp(last, entry) == 0))
    return;
  free(last);
  last = strdup(entry);
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0 && errno == ENOENT) {
    make_folders(path);
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }
  if (fd < 0)
    return;
  if (unfinished && write(fd, "\n", 1) < 0)
    errno = 0;
  unfinished = false;
  write_entry(fd, entry);
  close(fd);
}

void history_close(void)
{
  free(path);
  free(last);
  path = last = NULL;
}
