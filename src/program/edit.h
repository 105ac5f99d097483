/*
 * edit.h - reading a line from a terminal.
 *
 * One interface, three editors: libedit, readline, and none (the terminal's
 * own). All turn Ctrl-C into a result and leave signals, terminal and locale as
 * they found them.
 */
#ifndef CB_PROGRAM_EDIT_H
#define CB_PROGRAM_EDIT_H

#include <stdbool.h>
#include <stddef.h>

enum edit_result {
  EDIT_LINE,
  EDIT_END,         /* Ctrl-D on an empty line, or no terminal any more */
  EDIT_INTERRUPTED, /* Ctrl-C */
  EDIT_ABANDONED    /* Ctrl-C on a line with something in it */
};

/* What can stand at the cursor: from byte `start` of the line on, each of the
 * words. words is NULL when there is nothing to suggest. */
struct edit_words {
  size_t start;
  size_t count;
  char **words; /* each allocated, as is the array */
};

/* Given the line up to the cursor. */
typedef struct edit_words edit_complete(void *context, const char *line);

struct editor {
  bool (*open)(edit_complete *complete, void *context);
  /* *line is allocated, without the newline at its end. */
  enum edit_result (*read)(const char *prompt, char **line);
  void (*remember)(const char *entry);
  void (*close)(void);
};

/* The best one for this terminal, opened. */
const struct editor *edit_open(edit_complete *complete, void *context);

extern const struct editor edit_plain, edit_libedit, edit_readline;

/* ---- for editors ---- */

void edit_free_words(struct edit_words *words);

/* The bytes that all the words begin with. */
size_t edit_common_prefix(const struct edit_words *words);

/* Around the reading of a line: signals come in only while edit_wait waits, so
 * that none can slip in between a look at its flag and a read that blocks. */
void edit_watch_signals(void);
void edit_unwatch_signals(void);

/* Waits for input on stdin or for a signal; false: for the latter. */
bool edit_wait(void);

bool edit_take_interrupt(void); /* has SIGINT come? and forgets it */
bool edit_take_resize(void);    /* likewise SIGWINCH */
bool edit_take_continue(void);  /* and SIGCONT */

#endif
