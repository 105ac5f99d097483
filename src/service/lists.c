/* lists.c - what control publishes to an lcore: a cell for every service, and
 * the packed list of those that are mapped and runnable. */
#include "service/service.h"

#include "base/memory.h"

#include <stdlib.h>

struct cell *cb_cells_get(const struct cb_lcore *lcore, uint32_t slot)
{
  struct cells *cells =
      atomic_load_explicit(&lcore->cells, memory_order_relaxed);
  return atomic_load_explicit(&cells->at[slot], memory_order_relaxed);
}

int cb_cells_reserve(struct cb_lcore *lcore, uint32_t capacity)
{
  struct cells *old = atomic_load_explicit(&lcore->cells, memory_order_relaxed);
  if (old && old->capacity >= capacity)
    return 0;
  uint32_t size = old ? old->capacity * 2 : 8;
  if (size < capacity)
    size = capacity;
  struct cells *cells = calloc(1, sizeof *cells + size * sizeof cells->at[0]);
  if (!cells)
    return -ENOMEM;
  cells->capacity = size;
  cells->older = old;
  for (uint32_t i = 0; i < size; i++)
    atomic_init(&cells->at[i],
                old && i < old->capacity ? cb_cells_get(lcore, i) : NULL);
  atomic_store_explicit(&lcore->cells, cells, memory_order_release);
  return 0;
}

int cb_cells_add(struct cb_lcore *lcore, struct service *service)
{
  if (cb_cells_reserve(lcore, service->slot + 1) < 0)
    return -ENOMEM;
  if (cb_cells_get(lcore, service->slot))
    return 0;
  struct cell *cell = cb_memory_apart(sizeof *cell);
  if (!cell)
    return -ENOMEM;
  *cell = (struct cell){.service = service};
  struct cells *cells =
      atomic_load_explicit(&lcore->cells, memory_order_relaxed);
  atomic_store_explicit(&cells->at[service->slot], cell, memory_order_release);
  return 0;
}

void cb_cells_free(struct cb_lcore *lcore)
{
  struct cells *cells =
      atomic_load_explicit(&lcore->cells, memory_order_relaxed);
  for (uint32_t i = 0; cells && i < cells->capacity; i++)
    free(atomic_load_explicit(&cells->at[i], memory_order_relaxed));
  while (cells) {
    struct cells *older = cells->older;
    free(cells);
    cells = older;
  }
}

static uint64_t word_of(const struct service *service)
{
  return atomic_load_explicit(&service->word, memory_order_relaxed);
}

static bool belongs(const struct cell *cell)
{
  return cell && cell->mapped &&
         (uint32_t)word_of(cell->service) == WORD_RUNNABLE;
}

/* Frees the lists that the lcore has left. */
static void reclaim(struct cb_lcore *lcore)
{
  const struct list *using = atomic_load(&lcore->using);
  for (struct list **link = &lcore->retired, *list; (list = *link);) {
    if (list == using) {
      link = &list->older;
    } else {
      *link = list->older;
      free(list);
    }
  }
}

/* Takes what does not belong any more out of a list that is still in use. */
static void prune(struct list *list)
{
  for (size_t i = 0; i < list->count; i++) {
    struct item *item = &list->items[i];
    uint64_t wanted = atomic_load_explicit(&item->wanted, memory_order_relaxed);
    if (!belongs(item->cell) || word_of(item->service) != wanted)
      atomic_store(&item->wanted, 0);
  }
}

static void fill(struct list *list, const struct cb_lcore *lcore)
{
  const struct cells *cells =
      atomic_load_explicit(&lcore->cells, memory_order_relaxed);
  unsigned mode = CB_STATS_OFF;
  for (uint32_t slot = 0; slot < cells->capacity; slot++) {
    struct cell *cell = cb_cells_get(lcore, slot);
    if (!belongs(cell))
      continue;
    struct item *item = &list->items[list->count++];
    item->service = cell->service;
    item->cell = cell;
    atomic_init(&item->wanted, word_of(cell->service));
    unsigned stats =
        atomic_load_explicit(&cell->service->stats, memory_order_relaxed);
    if (list->count == 1)
      mode = stats;
    else if (mode != stats)
      mode = CB_STATS_MODES;
  }
  list->spin = lcore->set->variant->spin[mode];
}

static size_t count_runnable(const struct cb_lcore *lcore)
{
  size_t count = 0;
  const struct cells *cells =
      atomic_load_explicit(&lcore->cells, memory_order_relaxed);
  for (uint32_t slot = 0; slot < cells->capacity; slot++)
    count += belongs(cb_cells_get(lcore, slot));
  return count;
}

int cb_lists_publish(struct cb_lcore *lcore)
{
  size_t count = count_runnable(lcore);
  struct list *list = calloc(1, sizeof *list + count * sizeof list->items[0]);
  struct list *old = atomic_load_explicit(&lcore->list, memory_order_relaxed);
  if (old)
    prune(old);
  if (!list)
    return -ENOMEM;
  fill(list, lcore);
  atomic_store(&lcore->list, list);
  if (old) {
    old->older = lcore->retired;
    lcore->retired = old;
  }
  reclaim(lcore);
  return 0;
}

int cb_lists_publish_service(struct cb_services *set,
                             const struct service *service)
{
  int status = 0;
  for (struct cb_lcore *lcore = set->lcores; lcore; lcore = lcore->next) {
    const struct cell *cell = cb_cells_get(lcore, service->slot);
    if (cell && cell->mapped && cb_lists_publish(lcore) < 0)
      status = -ENOMEM;
  }
  return status;
}

void cb_lists_free(struct cb_lcore *lcore)
{
  struct list *list = atomic_load_explicit(&lcore->list, memory_order_relaxed);
  free(list);
  for (list = lcore->retired; list;) {
    struct list *older = list->older;
    free(list);
    list = older;
  }
}
