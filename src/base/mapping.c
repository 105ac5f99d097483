/*
 * mapping.c - memory for stacks.
 *
 * A stack is one private anonymous mapping with a page at its low end that
 * faults. MADV_GUARD_INSTALL marks that page in the page table, so mappings
 * lie side by side as one area of the kernel's; mprotect splits each in two
 * areas, and a process has 65530 of them by default. So with mprotect there
 * are at most about 32,700 stacks, with madvise as many as memory allows.
 *
 * Freeing takes the whole mapping away. When stacks have merged into one area,
 * even that can need one area more than the limit allows; then the memory goes
 * back but the addresses stay, and the next stack of that size is put there.
 */
#include "config.h"

#include "cbench.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef HAVE_VALGRIND_VALGRIND_H
#include <valgrind/valgrind.h>
#else
#define VALGRIND_DISABLE_ERROR_REPORTING (void)0
#define VALGRIND_ENABLE_ERROR_REPORTING (void)0
#endif

#define CB_UNCHECKED                                                           \
  __attribute__((no_sanitize("address"), no_sanitize("thread"), noinline))

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

enum { COLOURS = 61, COLOUR_STEP = 7, LINE = 64 };

/* Addresses that could not be given back, for stacks of the same shape. */
struct stranded {
  struct stranded *next;
  struct cb_stack stack;
};
static struct stranded *stranded;
static pthread_mutex_t stranded_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Set once the kernel has refused MADV_GUARD_INSTALL. */
static atomic_bool no_guard_install;

static size_t page_size(void)
{
  return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t round_up(size_t size, size_t unit)
{
  return (size + unit - 1) / unit * unit;
}

const char *cb_guard_name(enum cb_guard guard)
{
  static const char *const names[] = {"auto", "madvise", "mprotect", "none"};
  return names[guard];
}

static int out_of_mappings(size_t size, const char *call,
                           struct cb_error *error)
{
  int code = errno;
  char limit[24] = "";
  FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
  if (file) {
    if (fscanf(file, "%20[0-9]", limit) != 1)
      limit[0] = '\0';
    fclose(file);
  }
  if (code != ENOMEM && code != EAGAIN)
    return cb_fail(error, -code, "%s of a stack of %zu bytes: %s", call, size,
                   strerror(code));
  return cb_fail(error, -ENOMEM,
                 "%s of a stack of %zu bytes: %s; the process may have "
                 "vm.max_map_count = %s mappings, two for each stack whose "
                 "guard is made by mprotect",
                 call, size, strerror(code), limit[0] ? limit : "?");
}

static int guard_by_madvise(struct cb_stack *stack, size_t page)
{
  if (atomic_load_explicit(&no_guard_install, memory_order_relaxed))
    return -EINVAL;
  if (madvise(stack->base, page, MADV_GUARD_INSTALL) < 0) {
    if (errno == EINVAL)
      atomic_store_explicit(&no_guard_install, true, memory_order_relaxed);
    return -errno;
  }
  stack->guard = CB_GUARD_MADVISE;
  return 0;
}

static int guard_by_mprotect(struct cb_stack *stack, size_t page,
                             struct cb_error *error)
{
  if (mprotect(stack->base, page, PROT_NONE) < 0)
    return out_of_mappings(stack->mapped - page, "mprotect", error);
  stack->guard = CB_GUARD_MPROTECT;
  return 0;
}

static int install_guard(struct cb_stack *stack, enum cb_guard wanted,
                         size_t page, struct cb_error *error)
{
  stack->guard = CB_GUARD_NONE;
  if (wanted == CB_GUARD_NONE)
    return 0;
  if (wanted == CB_GUARD_MPROTECT)
    return guard_by_mprotect(stack, page, error);
  int status = guard_by_madvise(stack, page);
  if (status == 0)
    return 0;
  if (wanted == CB_GUARD_AUTO)
    return guard_by_mprotect(stack, page, error);
  return cb_fail(error, -ENOTSUP,
                 "this kernel has no guard by madvise "
                 "(MADV_GUARD_INSTALL: %s); mprotect is there",
                 strerror(-status));
}

static void *take_stranded(size_t mapped, enum cb_guard guard)
{
  void *base = NULL;
  pthread_mutex_lock(&stranded_mutex);
  for (struct stranded **link = &stranded, *row; (row = *link);
       link = &row->next)
    if (row->stack.mapped == mapped &&
        (row->stack.guard == CB_GUARD_NONE) == (guard == CB_GUARD_NONE)) {
      base = row->stack.base;
      *link = row->next;
      free(row);
      break;
    }
  pthread_mutex_unlock(&stranded_mutex);
  return base;
}

/* When even the row cannot be had, the addresses are lost, their memory not. */
static void strand(const struct cb_stack *stack)
{
  madvise(stack->base, stack->mapped, MADV_DONTNEED);
  struct stranded *row = malloc(sizeof *row);
  if (!row)
    return;
  row->stack = *stack;
  pthread_mutex_lock(&stranded_mutex);
  row->next = stranded;
  stranded = row;
  pthread_mutex_unlock(&stranded_mutex);
}

static void *map(size_t mapped, enum cb_guard guard)
{
  void *base = take_stranded(mapped, guard);
  if (base)
    return base;
  base = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (base == MAP_FAILED)
    return NULL;
  /* A huge page for the few kilobytes that a stack uses is a waste. */
  if (mapped >= (size_t)2 << 20)
    madvise(base, mapped, MADV_NOHUGEPAGE);
  return base;
}

int cb_stack_map(struct cb_stack *stack, const struct cb_stack_options *options,
                 unsigned index, struct cb_error *error)
{
  size_t size = options->size ? options->size : CB_STACK_PRESET;
  size_t page = page_size(), guard, colours;

  if (size < CB_STACK_MIN || size > CB_STACK_MAX)
    return cb_fail(error, -EINVAL,
                   "option 'stack_size': %zu is out of range [%zu, %zu]", size,
                   CB_STACK_MIN, CB_STACK_MAX);
  guard = options->guard == CB_GUARD_NONE ? 0 : page;
  colours = options->colour ? round_up(COLOURS * LINE, page) : 0;
  size = round_up(size, page);

  stack->mapped = guard + size + colours;
  stack->base = map(stack->mapped, options->guard);
  if (!stack->base)
    return out_of_mappings(size, "mmap", error);
  int status = install_guard(stack, options->guard, page, error);
  if (status < 0) {
    cb_stack_unmap(stack);
    return status;
  }
  stack->low = (char *)stack->base + guard;
  stack->top = (char *)stack->base + stack->mapped;
  if (options->colour)
    stack->top -= (size_t)index * COLOUR_STEP % COLOURS * LINE;
  return 0;
}

void cb_stack_unmap(struct cb_stack *stack)
{
  if (stack->base && munmap(stack->base, stack->mapped) < 0)
    strand(stack);
  stack->base = NULL;
}

/* The lowest page of the stack that has memory, or NULL. */
static const char *lowest_resident(const struct cb_stack *stack)
{
  unsigned char resident[256];
  size_t page = page_size();
  const char *end = (char *)stack->base + stack->mapped;

  for (char *at = stack->low; at < end; at += sizeof resident * page) {
    size_t pages = (size_t)(end - at) / page;
    if (pages > sizeof resident)
      pages = sizeof resident;
    if (mincore(at, pages * page, resident) < 0)
      return stack->low;
    for (size_t i = 0; i < pages; i++)
      if (resident[i] & 1)
        return at + i * page;
  }
  return NULL;
}

/* Reads dead frames, which the checkers would rightly question elsewhere. */
CB_UNCHECKED static const char *lowest_used(const char *at, const char *top)
{
  VALGRIND_DISABLE_ERROR_REPORTING;
  const uintptr_t *word = (const void *)at;
  while ((const char *)word < top && *word == 0)
    word++;
  VALGRIND_ENABLE_ERROR_REPORTING;
  return (const char *)word;
}

size_t cb_stack_high_water(const struct cb_stack *stack)
{
  const char *at = lowest_resident(stack);
  if (!at || at >= stack->top)
    return 0;
  return (size_t)(stack->top - lowest_used(at, stack->top));
}

void cb_stack_trim(const struct cb_stack *stack, const void *keep)
{
  size_t below = (size_t)((const char *)keep - stack->low);
  below -= below % page_size();
  if (below)
    madvise(stack->low, below, MADV_DONTNEED);
}
