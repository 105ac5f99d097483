/* make.h - making and unmaking coroutines, for pools. */
#ifndef CB_COROUTINE_MAKE_H
#define CB_COROUTINE_MAKE_H

#include "coroutine/here.h"

/* How the coroutines of a pool are made. */
struct cb_recipe {
  const struct cb_backend *backend;
  struct cb_stack_options stack;
  int setting; /* from the back end's configure */
};

/* Fills the recipe; kind of back end and stack size are checked. */
int cb_recipe_init(struct cb_recipe *recipe, const struct cb_spec *backend,
                   const struct cb_stack_options *stack,
                   struct cb_error *error);

/* A new coroutine, parked; index chooses the colour of its stack. */
struct cb_coroutine *cb_coroutine_make(const struct cb_recipe *recipe,
                                       unsigned index, struct cb_error *error);
/* Frees one that is not entered. */
void cb_coroutine_unmake(struct cb_coroutine *coroutine);

#endif
