/*
 * edit_readline.c - line editing by GNU readline, when configured so.
 *
 * Its own signal handling is switched off. Keys are read by a function of
 * ours, which turns Ctrl-C into the end of an empty line and a flag.
 */
#include "program/edit.h"

#include <readline/history.h>
#include <readline/readline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HISTORY_SIZE = 1000 };

static bool interrupted, abandoned;
static edit_complete *complete;
static void *complete_context;

static int read_key(FILE *file)
{
  unsigned char byte;
  (void)file;
  while (!edit_wait()) {
    if (edit_take_resize())
      rl_resize_terminal();
    if (edit_take_continue()) {
      rl_prep_terminal(1);
      rl_forced_update_display();
    }
    if (edit_take_interrupt()) {
      interrupted = true;
      abandoned = rl_end > 0;
      fputs("^C", rl_outstream);
      rl_replace_line("", 0);
      return '\n';
    }
  }
  return read(STDIN_FILENO, &byte, 1) > 0 ? byte : EOF;
}

/* Readline wants a list whose first entry is what all words begin with, and
 * frees it. The words replace the text from their start on. */
static char **matches(const char *text, int start, int end)
{
  char *line = strndup(rl_line_buffer, (size_t)end);
  rl_attempted_completion_over = 1;
  rl_completion_append_character = '\0';
  if (!line)
    return NULL;
  struct edit_words words = complete(complete_context, line);
  free(line);
  char **list = calloc(words.count + 2, sizeof *list);
  if (!list || words.count == 0 || words.start > (size_t)start) {
    free(list);
    edit_free_words(&words);
    return NULL;
  }
  (void)text;
  /* Readline's word may begin later than ours: the part before it is cut. */
  size_t cut = (size_t)start - words.start;
  for (size_t i = 0; i < words.count; i++)
    list[i + 1] = strlen(words.words[i]) >= cut ? strdup(words.words[i] + cut)
                                                : strdup("");
  size_t common = edit_common_prefix(&words);
  list[0] = strndup(words.words[0] + cut, common > cut ? common - cut : 0);
  if (words.count == 1)
    list[1] = NULL;
  edit_free_words(&words);
  return list;
}

static int on_tab(int count, int key)
{
  if (strspn(rl_line_buffer, " \t") >= (size_t)rl_point)
    return rl_insert_text("  ") < 0;
  return rl_complete(count, key);
}

static bool readline_open(edit_complete *function, void *context)
{
  complete = function;
  complete_context = context;
  rl_readline_name = "cbench";
  rl_catch_signals = 0;
  rl_catch_sigwinch = 0;
  rl_getc_function = read_key;
  rl_attempted_completion_function = matches;
  rl_basic_quote_characters = ""; /* else it closes strings */
  rl_basic_word_break_characters = " \t\n\"'`@$><=;|&{([,.:+-*/%^#~)]}";
  rl_bind_key('\t', on_tab);
  rl_variable_bind("show-all-if-ambiguous", "on");
  const char *plain = getenv("NO_COLOR");
  if (plain && *plain)
    rl_variable_bind("enable-bracketed-paste", "off");
  stifle_history(HISTORY_SIZE);
  return true;
}

static enum edit_result readline_read(const char *prompt, char **line)
{
  interrupted = false;
  edit_watch_signals();
  *line = readline(prompt);
  edit_unwatch_signals();
  if (!interrupted)
    return *line ? EDIT_LINE : EDIT_END;
  free(*line);
  *line = NULL;
  return abandoned ? EDIT_ABANDONED : EDIT_INTERRUPTED;
}

static void readline_remember(const char *entry)
{
  const HIST_ENTRY *last = history_get(history_base + history_length - 1);
  if (!last || strcmp(last->line, entry) != 0)
    add_history(entry);
}

static void readline_close(void)
{
  clear_history();
}

const struct editor edit_readline = {.open = readline_open,
                                     .read = readline_read,
                                     .remember = readline_remember,
                                     .close = readline_close};
