/* history.h - what was typed in former sessions. */
#ifndef CB_PROGRAM_HISTORY_H
#define CB_PROGRAM_HISTORY_H

/* The file is $CBENCH_HISTORY (empty: none is kept), else cbench/history in
 * the XDG state directory. Nothing here complains: a prompt without history is
 * still a prompt. */

/* Hands out the entries of the file, oldest first. */
void history_load(void (*each)(const char *entry));

/* Writes the entry to the file at once, unless it equals the last one. */
void history_add(const char *entry);

void history_close(void);

#endif
