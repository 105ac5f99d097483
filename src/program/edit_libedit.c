/*
 * edit_libedit.c - line editing by libedit, through its own interface.
 *
 * Characters are read by a function of ours: libedit's own gives up when a
 * signal interrupts it, which would throw away a half-typed line whenever the
 * window changes its size. Only Ctrl-C is allowed to do that.
 *
 * The terminal is asked to put brackets around what is pasted (libedit knows
 * nothing of them), so that a Tab in there is a Tab.
 */
#include "program/edit.h"

#include <errno.h>
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

enum { HISTORY_SIZE = 1000 };

static EditLine *editor;
static History *entries;
static char *current_prompt;
static bool abandoned; /* Ctrl-C, with something in the line */
static bool pasting;   /* between the brackets, perhaps lines ago */
static edit_complete *complete;
static void *complete_context;

static char *prompt_text(EditLine *el)
{
  (void)el;
  return current_prompt;
}

/* ---- locale ---- */

/* Characters are those of UTF-8 in here, whatever Lua's locale is; returns the
 * locale to go back to. */
static char *enter_locale(void)
{
  const char *now = setlocale(LC_CTYPE, NULL);
  char *former = strdup(now ? now : "C");
  setlocale(LC_CTYPE, "");
  if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
    setlocale(LC_CTYPE, "C.UTF-8");
  return former;
}

static void leave_locale(char *former)
{
  if (former)
    setlocale(LC_CTYPE, former);
  free(former);
}

/* ---- characters ---- */

/* No escape sequence of ours with NO_COLOR, as in all output. */
static void ask_for_brackets(bool on)
{
  const char *plain = getenv("NO_COLOR");
  if (plain && *plain)
    return;
  fputs(on ? "\033[?2004h" : "\033[?2004l", stdout);
  fflush(stdout);
}

static void follow_signals(EditLine *el)
{
  if (edit_take_continue()) {
    ask_for_brackets(true); /* a shell had the terminal meanwhile */
    el_set(el, EL_PREP_TERM, 1);
    el_set(el, EL_REFRESH);
  }
  if (edit_take_resize())
    el_resize(el);
}

/* 1 for a byte, 0 at the end, -1 for Ctrl-C. */
static int read_byte(EditLine *el, char *byte)
{
  while (!edit_wait()) {
    if (edit_take_interrupt()) {
      const LineInfo *line = el_line(el);
      abandoned = line->lastchar > line->buffer;
      errno = EINTR;
      return -1;
    }
    follow_signals(el);
  }
  return read(STDIN_FILENO, byte, 1) > 0;
}

static int read_character(EditLine *el, wchar_t *character)
{
  mbstate_t state = {0};
  for (;;) {
    char byte;
    int length = read_byte(el, &byte);
    if (length <= 0)
      return length;
    size_t used = mbrtowc(character, &byte, 1, &state);
    if (used != (size_t)-1 && used != (size_t)-2)
      return 1;
    if (used == (size_t)-1)
      state = (mbstate_t){0}; /* no character at all: left out */
  }
}

/* ---- completion ---- */

static int terminal_columns(void)
{
  int columns = 0;
  if (el_get(editor, EL_GETTC, "co", &columns, NULL) != 0 || columns <= 0)
    columns = 80;
  return columns;
}

static void list_words(const struct edit_words *words)
{
  size_t widest = 1;
  for (size_t i = 0; i < words->count; i++)
    if (strlen(words->words[i]) > widest)
      widest = strlen(words->words[i]);
  size_t per_line = (size_t)terminal_columns() / (widest + 2);
  if (per_line == 0)
    per_line = 1;
  size_t lines = (words->count + per_line - 1) / per_line;
  putchar('\n');
  for (size_t i = 0; i < lines; i++) {
    for (size_t j = i; j < words->count; j += lines)
      printf("%-*s", j + lines < words->count ? (int)widest + 2 : 0,
             words->words[j]);
    putchar('\n');
  }
  fflush(stdout);
}

static unsigned char insert(EditLine *el, const char *text)
{
  return el_insertstr(el, text) == 0 ? CC_REFRESH : CC_ERROR;
}

/* Tab: puts in what is certain; lists the words when nothing is. */
static unsigned char on_tab(EditLine *el, wint_t key)
{
  const LineInfo *info = el_line(el);
  size_t cursor = (size_t)(info->cursor - info->buffer);
  char *line = strndup(info->buffer, cursor);
  unsigned char result = CC_ERROR;

  (void)key;
  if (pasting) {
    free(line);
    return insert(el, "\t");
  }
  if (!line)
    return CC_ERROR;
  if (line[strspn(line, " \t")] == 0) {
    free(line);
    return insert(el, "  ");
  }
  struct edit_words words = complete(complete_context, line);
  size_t typed = cursor - words.start;
  size_t common = edit_common_prefix(&words);
  if (words.count > 0 && common > typed) {
    char *rest = strndup(words.words[0] + typed, common - typed);
    result = rest ? insert(el, rest) : CC_ERROR;
    free(rest);
  } else if (words.count > 1) {
    list_words(&words);
    result = CC_REDISPLAY;
  }
  edit_free_words(&words);
  free(line);
  return result;
}

static unsigned char on_paste(EditLine *el, wint_t key)
{
  (void)el;
  (void)key;
  pasting = true;
  return CC_NORM;
}

static unsigned char on_pasted(EditLine *el, wint_t key)
{
  (void)el;
  (void)key;
  pasting = false;
  return CC_NORM;
}

/* ---- the editor ---- */

static void set_up(void)
{
  HistEvent event;

  history(entries, &event, H_SETSIZE, HISTORY_SIZE);
  history(entries, &event, H_SETUNIQUE, 1);
  el_set(editor, EL_PROMPT, prompt_text);
  el_set(editor, EL_EDITOR, "emacs");
  el_set(editor, EL_SIGNAL, 0);
  el_set(editor, EL_GETCFN, read_character);
  el_set(editor, EL_HIST, history, entries);
  /* The narrow call would copy the texts and never free them. */
  el_wset(editor, EL_ADDFN, L"complete-lua", L"complete a name", on_tab);
  el_set(editor, EL_BIND, "\t", "complete-lua", NULL);
  el_wset(editor, EL_ADDFN, L"paste-begin", L"pasted text begins", on_paste);
  el_wset(editor, EL_ADDFN, L"paste-end", L"pasted text ends", on_pasted);
  el_set(editor, EL_BIND, "\\e[200~", "paste-begin", NULL);
  el_set(editor, EL_BIND, "\\e[201~", "paste-end", NULL);
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
  el_source(editor, NULL); /* the user's own ~/.editrc */
}

/* Which keys are characters is decided here, so in UTF-8 too. */
static bool libedit_open(edit_complete *function, void *context)
{
  char *former = enter_locale();
  complete = function;
  complete_context = context;
  editor = el_init("cbench", stdin, stdout, stderr);
  entries = history_init();
  if (editor && entries)
    set_up();
  leave_locale(former);
  return editor && entries;
}

static enum edit_result finish(const char *text, int length, char **line)
{
  if (text && length > 0) {
    if (text[length - 1] == '\n' || text[length - 1] == '\r')
      length--;
    *line = strndup(text, (size_t)length);
    return *line ? EDIT_LINE : EDIT_END;
  }
  pasting = false;
  if (length >= 0)
    return EDIT_END;
  fputs("^C\n", stdout);
  fflush(stdout);
  return abandoned ? EDIT_ABANDONED : EDIT_INTERRUPTED;
}

static enum edit_result libedit_read(const char *prompt, char **line)
{
  int length = 0;

  *line = NULL;
  current_prompt = strdup(prompt);
  if (!current_prompt)
    return EDIT_END;
  char *former = enter_locale();
  edit_watch_signals();
  /* Before the prompt comes: keys that answer it must find the mode set. */
  el_set(editor, EL_PREP_TERM, 1);
  ask_for_brackets(true);
  const char *text = el_gets(editor, &length);
  ask_for_brackets(false);
  edit_unwatch_signals();
  enum edit_result result = finish(text, length, line);
  leave_locale(former);
  free(current_prompt);
  return result;
}

static void libedit_remember(const char *entry)
{
  HistEvent event;
  char *former = enter_locale();
  history(entries, &event, H_ENTER, entry);
  leave_locale(former);
}

static void libedit_close(void)
{
  history_end(entries);
  el_end(editor);
}

const struct editor edit_libedit = {.open = libedit_open,
                                    .read = libedit_read,
                                    .remember = libedit_remember,
                                    .close = libedit_close};
