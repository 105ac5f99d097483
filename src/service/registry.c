/* registry.c - services by handle and by name, and their states. */
#include "service/service.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static uint64_t word_of(const struct service *service)
{
  return atomic_load_explicit(&service->word, memory_order_relaxed);
}

bool cb_service_is_registered(const struct service *service)
{
  return word_of(service) & WORD_REGISTERED;
}

uint64_t cb_services_id(const struct service *service)
{
  return (word_of(service) & ~(uint64_t)UINT32_MAX) | service->slot;
}

bool cb_services_was(const struct cb_services *set, uint64_t id)
{
  uint32_t slot = (uint32_t)id;
  return slot < set->slot_count && id >> 32 < word_of(set->slots[slot]) >> 32;
}

static struct service *find(struct cb_services *set, uint64_t id, bool leaving,
                            struct cb_error *error)
{
  uint32_t slot = (uint32_t)id;
  struct service *service = slot < set->slot_count ? set->slots[slot] : NULL;
  if (service && word_of(service) >> 32 == id >> 32 &&
      (cb_service_is_registered(service) || (leaving && service->leaving)))
    return service;
  cb_fail(error, -EINVAL, "there is no service with the handle %llu%s",
          (unsigned long long)id, cb_services_was(set, id) ? " any more" : "");
  return NULL;
}

struct service *cb_services_find(struct cb_services *set, uint64_t id,
                                 struct cb_error *error)
{
  return find(set, id, false, error);
}

struct service *cb_services_find_leaving(struct cb_services *set, uint64_t id,
                                         struct cb_error *error)
{
  return find(set, id, true, error);
}

static struct service *find_name(struct cb_services *set, const char *name)
{
  for (uint32_t slot = 0; slot < set->slot_count; slot++)
    if (cb_service_is_registered(set->slots[slot]) &&
        strcmp(set->slots[slot]->name, name) == 0)
      return set->slots[slot];
  return NULL;
}

/* Names stand in dumps and messages, one line each. */
static int check_name(const char *name, struct cb_error *error)
{
  if (!name || !name[0])
    return cb_fail(error, -EINVAL, "a service needs a name");
  if (strlen(name) >= CB_SERVICE_NAME_SIZE)
    return cb_fail(error, -EINVAL,
                   "the name '%.20s...' has %zu characters, the limit is %d",
                   name, strlen(name), CB_SERVICE_NAME_SIZE - 1);
  for (const char *at = name; *at; at++)
    if ((unsigned char)*at < ' ' || *at == 127)
      return cb_fail(error, -EINVAL,
                     "a service's name cannot have control characters, and "
                     "character %zu of it is one (code %d)",
                     (size_t)(at - name) + 1, *at);
  return 0;
}

static int check_new(struct cb_services *set, const struct cb_service *service,
                     struct cb_error *error)
{
  if (!service || !service->call)
    return cb_fail(error, -EINVAL, "a service needs a callback");
  if (check_name(service->name, error) < 0)
    return -EINVAL;
  if ((unsigned)service->stats >= CB_STATS_MODES)
    return cb_fail(error, -EINVAL, "statistics mode %u is out of range [0, %d]",
                   (unsigned)service->stats, CB_STATS_MODES - 1);
  if (find_name(set, service->name))
    return cb_fail(error, -EEXIST, "there is a service '%s' already",
                   service->name);
  return 0;
}

static int grow_slots(struct cb_services *set)
{
  if (set->slot_count < set->slot_capacity)
    return 0;
  uint32_t capacity = set->slot_capacity ? set->slot_capacity * 2 : 8;
  struct service **slots =
      realloc(set->slots, capacity * sizeof(struct service *));
  if (!slots)
    return -ENOMEM;
  set->slots = slots;
  set->slot_capacity = capacity;
  return 0;
}

static int add_cells(struct cb_services *set, struct service *service)
{
  for (struct cb_lcore *lcore = set->lcores; lcore; lcore = lcore->next)
    if (cb_cells_add(lcore, service) < 0)
      return -ENOMEM;
  return 0;
}

/* A slot that counts has a cell in every lcore. Until it has all of them it is
 * kept as the spare, because the first lcores point to it already. */
static struct service *new_slot(struct cb_services *set)
{
  if (!set->spare) {
    set->spare = cb_memory_apart(sizeof *set->spare);
    if (!set->spare)
      return NULL;
    set->spare->slot = set->slot_count;
  }
  if (grow_slots(set) < 0 || add_cells(set, set->spare) < 0)
    return NULL;
  struct service *service = set->spare;
  set->spare = NULL;
  set->slots[set->slot_count++] = service;
  return service;
}

/* The lowest slot that is free, made if need be. */
static struct service *free_slot(struct cb_services *set,
                                 struct cb_error *error)
{
  for (uint32_t slot = 0; slot < set->slot_count; slot++)
    if (!cb_service_is_registered(set->slots[slot]) &&
        !set->slots[slot]->leaving)
      return set->slots[slot];
  if (set->slot_count == CB_SERVICES_MOST) {
    cb_fail(error, -ENOSPC, "a set holds at most %d services",
            CB_SERVICES_MOST);
    return NULL;
  }
  struct service *service = new_slot(set);
  if (!service)
    cb_fail(error, -ENOMEM, "out of memory");
  return service;
}

/* Nobody runs the slot, so its plain fields may be written; the word publishes
 * them. */
static void occupy(struct cb_services *set, struct service *slot,
                   const struct cb_service *service)
{
  slot->call = service->call;
  slot->argument = service->argument;
  slot->mt_safe = service->mt_safe;
  slot->mapped_check = true;
  slot->ever_mapped = false;
  strcpy(slot->name, service->name);
  set->lock->init(slot->lock);
  cb_service_choose(set, slot, service->stats);
  cb_service_reset(set, slot);
  atomic_store(&slot->word, word_of(slot) | WORD_REGISTERED);
  set->registered++;
}

static int add(struct cb_services *set, const struct cb_service *service,
               uint64_t *id, struct cb_error *error)
{
  int status = check_new(set, service, error);
  if (status < 0)
    return status;
  struct service *slot = free_slot(set, error);
  if (!slot)
    return set->slot_count == CB_SERVICES_MOST ? -ENOSPC : -ENOMEM;
  struct farewell *farewell = malloc(sizeof *farewell);
  if (!farewell)
    return cb_fail(error, -ENOMEM, "out of memory");
  farewell->release = service->release;
  farewell->argument = service->argument;
  slot->farewell = farewell;
  occupy(set, slot, service);
  if (id)
    *id = cb_services_id(slot);
  return 0;
}

int cb_service_register(struct cb_services *set,
                        const struct cb_service *service, uint64_t *id,
                        struct cb_error *error)
{
  cb_services_enter(set);
  int status = add(set, service, id, error);
  cb_services_leave(set);
  return status;
}

/* The slot is free for the next generation. */
void cb_service_finish(struct cb_services *set, struct service *service)
{
  set->departing -= service->leaving;
  service->leaving = false;
  atomic_store(&service->word, (word_of(service) & ~(uint64_t)UINT32_MAX) +
                                   ((uint64_t)1 << 32));
  service->farewell->next = set->farewells;
  set->farewells = service->farewell;
  service->farewell = NULL;
}

static int busy(const struct service *service, struct cb_error *error)
{
  return cb_fail(error, -EBUSY, "a callback of service '%s' is running",
                 service->name);
}

static void unmap_everywhere(struct cb_services *set, struct service *service)
{
  for (struct cb_lcore *lcore = set->lcores; lcore; lcore = lcore->next) {
    struct cell *cell = cb_cells_get(lcore, service->slot);
    if (!cell->mapped)
      continue;
    cell->mapped = false;
    cb_lists_publish(lcore);
  }
}

/* Clears the word for good; -EBUSY, and everything as before, when a callback
 * of it runs. */
static int close_word(struct cb_services *set, struct service *service,
                      struct cb_error *error)
{
  uint64_t word = word_of(service);
  if (cb_quiesce_inside(set, service))
    return busy(service, error);
  atomic_store(&service->word, word & ~(uint64_t)UINT32_MAX);
  cb_quiesce_barrier(set);
  if (!cb_quiesce_inside(set, service))
    return 0;
  atomic_store(&service->word, word);
  return busy(service, error);
}

/* From inside its own callback the service is only closed; the sweep finishes
 * it when all callbacks are back. */
static int take_out(struct cb_services *set, struct service *service,
                    struct cb_error *error)
{
  bool self = cb_quiesce_self(set, service);
  if (self) {
    atomic_store(&service->word, word_of(service) & ~(uint64_t)UINT32_MAX);
    cb_quiesce_barrier(set);
  } else if (close_word(set, service, error) < 0) {
    return -EBUSY;
  }
  unmap_everywhere(set, service);
  set->registered--;
  service->leaving = true;
  set->departing++;
  if (!self)
    cb_service_finish(set, service);
  return 0;
}

int cb_service_unregister(struct cb_services *set, uint64_t id,
                          struct cb_error *error)
{
  cb_services_enter(set);
  struct service *service = cb_services_find(set, id, error);
  int status = service ? take_out(set, service, error) : -EINVAL;
  cb_services_leave(set);
  return status;
}

unsigned cb_service_count(struct cb_services *set)
{
  cb_services_enter(set);
  unsigned count = set->registered;
  cb_services_leave(set);
  return count;
}

int cb_service_by_name(struct cb_services *set, const char *name, uint64_t *id,
                       struct cb_error *error)
{
  if (!name || !id)
    return cb_fail(error, -EINVAL, "a name and room for a handle are needed");
  cb_services_enter(set);
  const struct service *service = find_name(set, name);
  if (service)
    *id = cb_services_id(service);
  cb_services_leave(set);
  if (!service)
    return cb_fail(error, -ENODEV, "there is no service '%.*s'",
                   CB_SERVICE_NAME_SIZE, name);
  return 0;
}

int cb_service_name(struct cb_services *set, uint64_t id,
                    char name[CB_SERVICE_NAME_SIZE], struct cb_error *error)
{
  cb_services_enter(set);
  const struct service *service = cb_services_find(set, id, error);
  if (service)
    strcpy(name, service->name);
  cb_services_leave(set);
  return service ? 0 : -EINVAL;
}

int cb_service_mt_safe(struct cb_services *set, uint64_t id,
                       struct cb_error *error)
{
  cb_services_enter(set);
  const struct service *service = cb_services_find(set, id, error);
  int status = service ? service->mt_safe : -EINVAL;
  cb_services_leave(set);
  return status;
}

/* Sets or clears one of the word's states. A service that was not added to a
 * list for want of memory is not started. */
static int set_state(struct cb_services *set, struct service *service,
                     uint64_t state, bool on, struct cb_error *error)
{
  uint64_t word = word_of(service);
  atomic_store(&service->word, on ? word | state : word & ~state);
  int status = cb_lists_publish_service(set, service);
  if (!on) {
    cb_quiesce_barrier(set);
    return 0;
  }
  if (status < 0) {
    atomic_store(&service->word, word);
    return cb_fail(error, status, "out of memory");
  }
  return 0;
}

static int change_state(struct cb_services *set, uint64_t id, uint64_t state,
                        bool on, struct cb_error *error)
{
  cb_services_enter(set);
  struct service *service = cb_services_find(set, id, error);
  int status = service ? set_state(set, service, state, on, error) : -EINVAL;
  cb_services_leave(set);
  return status;
}

int cb_service_component_set(struct cb_services *set, uint64_t id, bool ready,
                             struct cb_error *error)
{
  return change_state(set, id, WORD_COMPONENT, ready, error);
}

int cb_service_runstate_set(struct cb_services *set, uint64_t id, bool run,
                            struct cb_error *error)
{
  return change_state(set, id, WORD_APPLICATION, run, error);
}

unsigned cb_service_lcores(const struct cb_services *set,
                           const struct service *service)
{
  unsigned count = 0;
  for (struct cb_lcore *lcore = set->lcores; lcore; lcore = lcore->next)
    if (lcore->role == ROLE_SERVICE)
      count += cb_cells_get(lcore, service->slot)->mapped;
  return count;
}

bool cb_service_may_run(const struct cb_services *set,
                        const struct service *service)
{
  return (uint32_t)word_of(service) == WORD_RUNNABLE &&
         (!service->mapped_check || cb_service_lcores(set, service) > 0);
}

bool cb_service_is_runnable(struct cb_services *set, uint64_t id)
{
  cb_services_enter(set);
  const struct service *service = cb_services_find(set, id, NULL);
  bool runnable = service && (uint32_t)word_of(service) == WORD_RUNNABLE;
  cb_services_leave(set);
  return runnable;
}

bool cb_service_is_mapped(struct cb_services *set, uint64_t id)
{
  cb_services_enter(set);
  const struct service *service = cb_services_find(set, id, NULL);
  bool mapped = service && cb_service_lcores(set, service) > 0;
  cb_services_leave(set);
  return mapped;
}

int cb_service_runstate_get(struct cb_services *set, uint64_t id,
                            struct cb_error *error)
{
  cb_services_enter(set);
  const struct service *service = cb_services_find(set, id, error);
  int status = service ? cb_service_may_run(set, service) : -EINVAL;
  cb_services_leave(set);
  return status;
}

int cb_service_mapped_check_set(struct cb_services *set, uint64_t id,
                                bool check, struct cb_error *error)
{
  cb_services_enter(set);
  struct service *service = cb_services_find(set, id, error);
  if (service)
    service->mapped_check = check;
  cb_services_leave(set);
  return service ? 0 : -EINVAL;
}

int cb_service_run(struct cb_lcore *lcore, uint64_t id, bool serialize,
                   int *result)
{
  struct cell *cell = cb_service_cell(lcore, id);
  if (!cell)
    return -EINVAL;
  service_run_function run =
      atomic_load_explicit(&cell->service->run, memory_order_relaxed);
  return run(lcore, cell, id, serialize, result ? result : &lcore->unwanted);
}

void cb_service_repeat(struct cb_lcore *lcore, uint64_t id, bool serialize,
                       uint64_t n, struct cb_run_tally *tally)
{
  const struct cell *cell = cb_service_cell(lcore, id);
  unsigned stats =
      cell ? atomic_load_explicit(&cell->service->stats, memory_order_relaxed)
           : CB_STATS_OFF;
  lcore->set->variant->repeat[stats](lcore, id, serialize, n, tally);
}
