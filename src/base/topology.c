/*
 * topology.c - which CPUs there are, how they stand to each other, pinning.
 *
 * Two steps, each once a process: the allowed CPUs (one system call), and their
 * cores, caches and packages, which hwloc takes 3 to 120 ms to find out; so
 * that is only done when a placement asks. What hwloc says is boiled down to a
 * small table, highest CPU first: CPU 0 is where a system likes to put its
 * interrupts, so placements take it last.
 */
#include "config.h"

#include "base/topology.h"

#include "base/names.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_HWLOC
#include <hwloc.h>
#endif

/* Where one allowed CPU stands. Two CPUs with equal numbers share the thing;
 * rank is its place among those that share its core, and so on upwards. */
struct cpu {
  int os;
  int core, cache, package;
  int rank_in_core, rank_in_cache, rank_in_package;
};

static pthread_once_t allowed_once = PTHREAD_ONCE_INIT;
static pthread_once_t table_once = PTHREAD_ONCE_INIT;
static struct cpu *table;
static size_t table_size;
static struct cb_topology summary;

static cpu_set_t *set_of(struct cb_affinity *affinity)
{
  return (cpu_set_t *)(void *)affinity->bits;
}

int cb_affinity_save(struct cb_affinity *affinity)
{
  memset(affinity, 0, sizeof *affinity);
  return sched_getaffinity(0, sizeof affinity->bits, set_of(affinity)) == 0
             ? 0
             : -errno;
}

int cb_affinity_restore(const struct cb_affinity *affinity)
{
  struct cb_affinity copy = *affinity;
  return sched_setaffinity(0, sizeof copy.bits, set_of(&copy)) == 0 ? 0
                                                                    : -errno;
}

/* Fills the table with bare CPUs. Without memory or the system's answer it
 * stays empty, and every CPU is refused. */
static void find_allowed(void)
{
  struct cb_affinity allowed;
  size_t size = sizeof allowed.bits;
  if (cb_affinity_save(&allowed) < 0)
    return;
  size_t count = (size_t)CPU_COUNT_S(size, set_of(&allowed));
  table = calloc(count, sizeof *table);
  if (!table)
    return;
  for (int os = CB_CPUS_MOST - 1; os >= 0 && table_size < count; os--)
    if (CPU_ISSET_S((size_t)os, size, set_of(&allowed)))
      table[table_size++] = (struct cpu){.os = os};
  summary.cpus = table_size;
}

size_t cb_cpus_allowed(int *cpus, size_t capacity)
{
  pthread_once(&allowed_once, find_allowed);
  for (size_t i = 0; i < table_size && i < capacity; i++)
    cpus[i] = table[table_size - 1 - i].os;
  return table_size;
}

int cb_cpus_check(const int *cpus, size_t count, struct cb_error *error)
{
  cb_cpus_allowed(NULL, 0);
  for (size_t i = 0; i < count; i++) {
    size_t j = 0;
    while (j < table_size && table[j].os != cpus[i])
      j++;
    if (j == table_size && table_size > 0)
      return cb_fail(error, -EINVAL,
                     "CPU %d is not among the %zu that this process may use "
                     "(%d to %d)",
                     cpus[i], table_size, table[table_size - 1].os,
                     table[0].os);
    if (j == table_size)
      return cb_fail(error, -ENOTSUP, "the system does not tell its CPUs");
  }
  return 0;
}

int cb_pin(int cpu, struct cb_error *error)
{
  struct cb_affinity one;
  if (cb_cpus_check(&cpu, 1, error) < 0)
    return -EINVAL;
  memset(&one, 0, sizeof one);
  CPU_SET_S((size_t)cpu, sizeof one.bits, set_of(&one));
  int status = cb_affinity_restore(&one);
  if (status < 0)
    return cb_fail(error, status, "cannot pin a thread to CPU %d: %s", cpu,
                   strerror(-status));
  return 0;
}

#ifdef HAVE_HWLOC

static int shared_object(hwloc_topology_t topology, hwloc_obj_t unit,
                         hwloc_obj_type_t type, int otherwise)
{
  hwloc_obj_t object = hwloc_get_ancestor_obj_by_type(topology, type, unit);
  return object ? (int)object->logical_index : otherwise;
}

/* The outermost cache above a CPU; levels are told apart by their depth. */
static int last_cache(hwloc_obj_t unit)
{
  int cache = -1;
  for (hwloc_obj_t up = unit->parent; up; up = up->parent)
    if (hwloc_obj_type_is_cache(up->type))
      cache = up->depth * CB_CPUS_MOST + (int)up->logical_index;
  return cache;
}

static bool read_hwloc(void)
{
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) < 0)
    return false;
  bool loaded = hwloc_topology_load(topology) == 0;
  for (size_t i = 0; loaded && i < table_size; i++) {
    struct cpu *cpu = &table[i];
    hwloc_obj_t unit =
        hwloc_get_pu_obj_by_os_index(topology, (unsigned)cpu->os);
    loaded = unit != NULL;
    if (!unit)
      break;
    cpu->core = shared_object(topology, unit, HWLOC_OBJ_CORE, cpu->os);
    cpu->package = shared_object(topology, unit, HWLOC_OBJ_PACKAGE, 0);
    cpu->cache = last_cache(unit);
    /* Without a shared cache in the description, each core is its own. */
    if (cpu->cache < 0)
      cpu->cache = -1 - cpu->core;
  }
  hwloc_topology_destroy(topology);
  return loaded;
}

#else

static bool read_hwloc(void)
{
  return false;
}

#endif

/* Ranks count, for each CPU, those before it in the table: CPUs of its core,
 * cores of its cache, caches of its package. */
static void rank(struct cpu *cpu)
{
  for (const struct cpu *other = table; other < cpu; other++) {
    cpu->rank_in_core += other->core == cpu->core;
    cpu->rank_in_cache += other->cache == cpu->cache &&
                          other->core != cpu->core && other->rank_in_core == 0;
    cpu->rank_in_package +=
        other->package == cpu->package && other->cache != cpu->cache &&
        other->rank_in_cache == 0 && other->rank_in_core == 0;
  }
}

static void find_table(void)
{
  bool known = read_hwloc();
  summary.source = known ? "hwloc" : "sched_getaffinity";
  for (size_t i = 0; i < table_size; i++) {
    if (!known)
      table[i].core = table[i].cache = table[i].os;
    rank(&table[i]);
  }
  for (size_t i = 0; known && i < table_size; i++) {
    const struct cpu *cpu = &table[i];
    bool first_in_core = cpu->rank_in_core == 0;
    bool first_in_cache = first_in_core && cpu->rank_in_cache == 0;
    summary.cores += first_in_core;
    summary.caches += first_in_cache;
    summary.packages += first_in_cache && cpu->rank_in_package == 0;
  }
}

const struct cb_topology *cb_topology(void)
{
  cb_cpus_allowed(NULL, 0);
  pthread_once(&table_once, find_table);
  return &summary;
}

/* ---- placements ---------------------------------------------------------- */

/* Far apart first: other packages before other caches before other cores
 * before the threads of one core. */
static int by_distance(const void *a, const void *b)
{
  const struct cpu *one = a, *two = b;
  if (one->rank_in_core != two->rank_in_core)
    return one->rank_in_core - two->rank_in_core;
  if (one->rank_in_cache != two->rank_in_cache)
    return one->rank_in_cache - two->rank_in_cache;
  if (one->rank_in_package != two->rank_in_package)
    return one->rank_in_package - two->rank_in_package;
  if (one->package != two->package)
    return two->package - one->package;
  return two->os - one->os;
}

static int place_same(unsigned threads, int *cpus, struct cb_error *error)
{
  (void)error;
  for (unsigned i = 0; i < threads; i++)
    cpus[i] = table[0].os;
  return 0;
}

static int place_spread(unsigned threads, int *cpus, struct cb_error *error)
{
  struct cpu *order = malloc(table_size * sizeof *order);
  if (!order)
    return cb_fail(error, -ENOMEM, "out of memory");
  memcpy(order, table, table_size * sizeof *order);
  qsort(order, table_size, sizeof *order, by_distance);
  for (unsigned i = 0; i < threads; i++)
    cpus[i] = order[i % table_size].os;
  free(order);
  return 0;
}

/* The CPUs that share one core (or, one a core, one cache) with a leader. */
static unsigned companions(const struct cpu *leader, bool of_core,
                           unsigned threads, int *cpus)
{
  unsigned found = 0;
  for (size_t i = 0; i < table_size && found < threads; i++) {
    const struct cpu *cpu = &table[i];
    if (of_core ? cpu->core == leader->core
                : cpu->cache == leader->cache && cpu->rank_in_core == 0)
      cpus[found++] = cpu->os;
  }
  return found;
}

static int place_together(bool of_core, unsigned threads, int *cpus,
                          struct cb_error *error)
{
  unsigned most = 0;
  for (size_t i = 0; i < table_size; i++) {
    unsigned found = companions(&table[i], of_core, threads, cpus);
    if (found == threads)
      return 0;
    most = found > most ? found : most;
  }
  if (of_core)
    return cb_fail(error, -ENOTSUP,
                   "place 'smt': %u threads do not fit on one core, which has "
                   "at most %u CPU%s here",
                   threads, most, most == 1 ? "" : "s");
  return cb_fail(error, -ENOTSUP,
                 "place 'cache': %u threads do not fit on the cores of one "
                 "cache, which are at most %u here",
                 threads, most);
}

static int place_smt(unsigned threads, int *cpus, struct cb_error *error)
{
  return place_together(true, threads, cpus, error);
}

static int place_cache(unsigned threads, int *cpus, struct cb_error *error)
{
  return place_together(false, threads, cpus, error);
}

static int place_package(unsigned threads, int *cpus, struct cb_error *error)
{
  if (threads > 1 && summary.packages < 2)
    return cb_fail(error, -ENOTSUP,
                   "place 'package': the CPUs that this process may use are "
                   "all of one package");
  if (threads > table_size)
    return cb_fail(error, -ENOTSUP, "place 'package': %u threads, but %zu CPUs",
                   threads, table_size);
  return place_spread(threads, cpus, error);
}

static const struct place {
  const char *name;
  bool needs_topology;
  int (*choose)(unsigned threads, int *cpus, struct cb_error *error);
} places[] = {{"same", false, place_same},     {"smt", true, place_smt},
              {"cache", true, place_cache},    {"package", true, place_package},
              {"spread", false, place_spread}, {NULL, false, NULL}};

static int unknown_place(const char *name, struct cb_error *error)
{
  struct cb_nearest search = {.word = name};
  for (const struct place *place = places; place->name; place++)
    cb_nearest_offer(&search, place->name);
  return cb_fail(error, -EINVAL,
                 "unknown place '%.40s' (one of same, smt, cache, package, "
                 "spread%s%s%s)",
                 name, search.nearest ? "; did you mean '" : "",
                 search.nearest ? search.nearest : "",
                 search.nearest ? "'?" : "");
}

int cb_cpus_place(const char *name, unsigned threads, int *cpus,
                  struct cb_error *error)
{
  const struct place *place = places;
  name = name ? name : "spread";
  while (place->name && strcmp(place->name, name) != 0)
    place++;
  if (!place->name)
    return unknown_place(name, error);
  if (cb_cpus_allowed(NULL, 0) == 0)
    return cb_fail(error, -ENOTSUP, "the system does not tell its CPUs");
  /* Up to two CPUs spread in one way only. */
  if (place->needs_topology || (threads > 1 && table_size > 2))
    cb_topology();
  if (place->needs_topology && summary.packages == 0)
    return cb_fail(error, -ENOTSUP,
                   "place '%s': the topology of this machine is not known "
                   "(hwloc is missing)",
                   name);
  return place->choose(threads, cpus, error);
}
