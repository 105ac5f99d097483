#include "config.h"

#include "program/edit.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void edit_free_words(struct edit_words *words)
{
  for (size_t i = 0; i < words->count; i++)
    free(words->words[i]);
  free(words->words);
  *words = (struct edit_words){0};
}

size_t edit_common_prefix(const struct edit_words *words)
{
  size_t length = words->count ? strlen(words->words[0]) : 0;
  for (size_t i = 1; i < words->count; i++) {
    size_t same = 0;
    while (same < length && words->words[0][same] == words->words[i][same])
      same++;
    length = same;
  }
  return length;
}

/* ---- signals ---- */

static const int watched[] = {SIGINT, SIGWINCH, SIGCONT};
enum { WATCHED = sizeof watched / sizeof watched[0] };
static struct sigaction before[WATCHED];
static sigset_t mask_before;
static atomic_bool came[WATCHED];

static void note(int number)
{
  for (int i = 0; i < WATCHED; i++)
    if (watched[i] == number)
      atomic_store(&came[i], true);
}

void edit_watch_signals(void)
{
  struct sigaction action = {.sa_handler = note};
  sigset_t block;

  sigemptyset(&action.sa_mask);
  sigemptyset(&block);
  for (int i = 0; i < WATCHED; i++)
    sigaddset(&block, watched[i]);
  sigprocmask(SIG_BLOCK, &block, &mask_before);
  for (int i = 0; i < WATCHED; i++) {
    atomic_store(&came[i], false);
    sigaction(watched[i], &action, &before[i]);
  }
}

/* The mask comes first: what is still pending is for our handlers. */
void edit_unwatch_signals(void)
{
  sigprocmask(SIG_SETMASK, &mask_before, NULL);
  for (int i = 0; i < WATCHED; i++)
    sigaction(watched[i], &before[i], NULL);
}

bool edit_wait(void)
{
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  sigset_t open = mask_before;
  for (int i = 0; i < WATCHED; i++)
    sigdelset(&open, watched[i]);
  return ppoll(&input, 1, NULL, &open) > 0;
}

bool edit_take_interrupt(void)
{
  return atomic_exchange(&came[0], false);
}

bool edit_take_resize(void)
{
  return atomic_exchange(&came[1], false);
}

bool edit_take_continue(void)
{
  return atomic_exchange(&came[2], false);
}

/* ---- no editing but the terminal's own ---- */

static bool plain_open(edit_complete *complete, void *context)
{
  (void)complete;
  (void)context;
  return true;
}

/* What was typed before Ctrl-C is dropped by the terminal itself, so whether
 * there was anything cannot be told. */
static enum edit_result plain_read(const char *prompt, char **line)
{
  size_t size = 0;
  ssize_t length = -1;
  bool interrupted = false;

  *line = NULL;
  edit_watch_signals();
  fputs(prompt, stdout);
  fflush(stdout);
  while (!edit_wait() && !(interrupted = edit_take_interrupt()))
    ; /* other signals mean nothing to us */
  if (!interrupted)
    length = getline(line, &size, stdin);
  edit_unwatch_signals();
  if (interrupted)
    putchar('\n');
  if (length < 0)
    return interrupted ? EDIT_INTERRUPTED : EDIT_END;
  if ((*line)[length - 1] == '\n')
    (*line)[length - 1] = 0;
  return EDIT_LINE;
}

static void plain_remember(const char *entry)
{
  (void)entry;
}

static void plain_close(void)
{
}

const struct editor edit_plain = {.open = plain_open,
                                  .read = plain_read,
                                  .remember = plain_remember,
                                  .close = plain_close};

/* ---- the choice ---- */

static bool can_edit(void)
{
  const char *terminal = getenv("TERM");
  return terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

const struct editor *edit_open(edit_complete *complete, void *context)
{
#if defined HAVE_LIBEDIT
  if (can_edit() && edit_libedit.open(complete, context))
    return &edit_libedit;
#elif defined HAVE_READLINE
  if (can_edit() && edit_readline.open(complete, context))
    return &edit_readline;
#else
  (void)can_edit;
#endif
  edit_plain.open(complete, context);
  return &edit_plain;
}
