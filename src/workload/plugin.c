/*
 * plugin.c - loads plug-ins: checks them, lends them the library, adds copies
 * of their kinds to the families.
 *
 * Copies, because a kind may get a longer name (a prefix), and because an
 * option that takes a kind of another family can name it only by a word.
 */
#define CB_PLUGIN_LOADER
#include "workload/plugin.h"

#include "coroutine/here.h"
#include "workload/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cb_here *here(void)
{
  return cb_here();
}

/* The distance from the thread pointer to this thread's state, the same in all
 * threads: the state is thread-local data of the initial-exec model. */
static ptrdiff_t here_offset(void)
{
#if defined __x86_64__ && !defined __ILP32__
  char *thread;
  __asm__("movq %%fs:0, %0" : "=r"(thread));
  return (char *)here() - thread;
#elif defined __aarch64__
  char *thread;
  __asm__("mrs %0, tpidr_el0" : "=r"(thread));
  return (char *)here() - thread;
#else
  return 0;
#endif
}

/* What a plug-in may call. */
static const struct cb_host table = {
    .size = sizeof table,
    .version = cb_version,
    .fail = cb_fail,
    .family_find = cb_family_find,
    .kind_at = cb_kind_at,
    .kind_find = cb_kind_find,
    .spec_create = cb_spec_create,
    .spec_destroy = cb_spec_destroy,
    .spec_set_integer = cb_spec_set_integer,
    .spec_set_number = cb_spec_set_number,
    .spec_set_boolean = cb_spec_set_boolean,
    .spec_set_string = cb_spec_set_string,
    .spec_kind = cb_spec_kind,
    .spec_integer = cb_spec_integer,
    .spec_number = cb_spec_number,
    .spec_boolean = cb_spec_boolean,
    .spec_string = cb_spec_string,
    .spec_spec = cb_spec_spec,
    .spec_object = cb_spec_object,
    .clock = cb_clock,
    .now = cb_now,
    .cpus_allowed = cb_cpus_allowed,
    .ring_create = cb_ring_create,
    .ring_destroy = cb_ring_destroy,
    .ring_drain = cb_ring_drain,
    .here = here,
    .coroutine_refused = cb_coroutine_refused,
    .coroutine_create = cb_coroutine_create,
    .coroutine_switch = cb_coroutine_switch,
    .coroutine_release = cb_coroutine_release,
    .coroutine_yield = cb_coroutine_yield,
    .coroutine_destroy = cb_coroutine_destroy,
    .pool_create = cb_pool_create,
    .pool_destroy = cb_pool_destroy,
    .pool_prefill = cb_pool_prefill,
    .pool_stats = cb_pool_stats,
    .ring_allocate = cb_ring_allocate,
    .ring_power_of_two = cb_ring_power_of_two,
};

/* One load of one plug-in, kept for ever. */
struct loaded {
  struct cb_plugin_info info;
  struct loaded *_Atomic next;
  struct cb_plugin_entry entries[];
};

static struct loaded *_Atomic first_loaded;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

/* ---- opening ---- */

static const char *last_error(const char *path)
{
  const char *text = dlerror();
  size_t length = strlen(path);
  /* The loader begins with the path that stands in our sentence already. */
  if (text && strncmp(text, path, length) == 0 && text[length] == ':')
    return text + length + 2;
  return text ? text : "unknown error";
}

static int check_kinds(const char *path, const struct cb_plugin *plugin,
                       struct cb_error *error)
{
  const struct cb_plugin_kind *row = plugin->kinds;
  for (; row->family; row++) {
    const struct cb_family *family = cb_family_find(row->family);
    if (!family)
      return cb_fail(error, -ENOEXEC,
                     "plug-in '%.100s' has a kind of the family '%.40s', which "
                     "there is not",
                     path, row->family);
    if (family->size != row->size)
      return cb_fail(error, -ENOEXEC,
                     "plug-in '%.100s': its %s has %zu bytes, here it is %zu; "
                     "build it again with the headers of cbench %s",
                     path, row->family, row->size, family->size, cb_version());
  }
  return 0;
}

static int check(const char *path, const struct cb_plugin *plugin,
                 struct cb_error *error)
{
  if (!plugin)
    return cb_fail(error, -ENOEXEC,
                   "'%.150s' is no plug-in of cbench: it exports no cb_plugin",
                   path);
  if (plugin->abi != CB_PLUGIN_ABI)
    return cb_fail(error, -ENOEXEC,
                   "plug-in '%.100s' was built for ABI %u, cbench %s has ABI "
                   "%u; build it again with its headers",
                   path, plugin->abi, cb_version(), CB_PLUGIN_ABI);
  if (plugin->host_size > sizeof table)
    return cb_fail(error, -ENOEXEC,
                   "plug-in '%.100s' was built for a newer cbench than %s",
                   path, cb_version());
  return check_kinds(path, plugin, error);
}

/* Fills the plug-in's table, with the lock held. */
static int lend(const char *path, const struct cb_plugin *plugin,
                struct cb_error *error)
{
  struct cb_host ours = table;
  ours.size = plugin->host_size;
  ours.here_offset = here_offset();
  if (plugin->host->size == 0)
    memcpy(plugin->host, &ours, plugin->host_size);
  else if (memcmp(plugin->host, &ours, plugin->host_size) != 0)
    return cb_fail(error, -EBUSY,
                   "plug-in '%.100s' is in use by another cbench in this "
                   "process",
                   path);
  return 0;
}

static const struct cb_plugin *open_plugin(const char *path,
                                           struct cb_error *error)
{
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = last_error(path);
    cb_fail(error, -ENOEXEC, "cannot load plug-in '%.100s': %s%s", path, reason,
            strstr(reason, "undefined symbol:")
                ? " (a library that it needs may be of another version)"
                : "");
    return NULL;
  }
  const struct cb_plugin *plugin = dlsym(handle, "cb_plugin");
  if (check(path, plugin, error) < 0 || lend(path, plugin, error) < 0) {
    dlclose(handle);
    return NULL;
  }
  return plugin;
}

const struct cb_plugin *cb_plugin_open(const char *path, struct cb_error *error)
{
  pthread_mutex_lock(&loading);
  const struct cb_plugin *plugin = open_plugin(path, error);
  pthread_mutex_unlock(&loading);
  return plugin;
}

/* ---- copying kinds ---- */

/* "prefix_name" or the name; NULL when memory is short. */
static char *full_name(const char *prefix, const char *name)
{
  size_t size = strlen(name) + (prefix ? strlen(prefix) + 1 : 0) + 1;
  char *full = malloc(size);
  if (full)
    snprintf(full, size, "%s%s%s", prefix ? prefix : "", prefix ? "_" : "",
             name);
  return full;
}

/* Is the word the name of a kind that the plug-in brings along itself? */
static bool is_own(const struct cb_plugin *plugin, const char *family,
                   const char *word)
{
  const struct cb_plugin_kind *row = plugin->kinds;
  for (; row->family; row++)
    if (strcmp(row->family, family) == 0 && strcmp(row->kind->name, word) == 0)
      return true;
  return false;
}

static int resolve(struct cb_option *option, const struct cb_plugin *plugin,
                   const char *prefix, struct cb_error *error)
{
  bool named = option->type == CB_KIND || option->type == CB_LIST;
  if (!named || option->family)
    return 0;
  const char *word = option->choices ? option->choices : "";
  option->family = cb_family_find(word);
  if (!option->family)
    return cb_fail(error, -ENOEXEC,
                   "plug-in '%.60s', option '%.40s': there is no family '%.40s'"
                   " (its choices name one)",
                   plugin->name, option->name, word);
  if (prefix && option->type == CB_KIND && option->preset &&
      is_own(plugin, word, option->preset)) {
    option->preset = full_name(prefix, option->preset);
    if (!option->preset)
      return cb_fail(error, -ENOMEM, "out of memory");
  }
  return 0;
}

static struct cb_option *copy_options(const struct cb_option *options,
                                      const struct cb_plugin *plugin,
                                      const char *prefix,
                                      struct cb_error *error)
{
  size_t count = 0;
  while (options[count].name)
    count++;
  struct cb_option *copy = calloc(count + 1, sizeof *copy);
  if (!copy) {
    cb_fail(error, -ENOMEM, "out of memory");
    return NULL;
  }
  memcpy(copy, options, count * sizeof *copy);
  for (size_t i = 0; i < count; i++)
    if (resolve(&copy[i], plugin, prefix, error) < 0) {
      free(copy);
      return NULL;
    }
  return copy;
}

static struct cb_kind *copy_kind(const struct cb_plugin_kind *row,
                                 const struct cb_plugin *plugin,
                                 const char *prefix, struct cb_error *error)
{
  struct cb_kind *kind = malloc(row->size);
  char *name = full_name(prefix, row->kind->name);
  if (!kind || !name) {
    cb_fail(error, -ENOMEM, "out of memory");
    goto fail;
  }
  memcpy(kind, row->kind, row->size);
  kind->name = name;
  if (kind->options) {
    kind->options = copy_options(kind->options, plugin, prefix, error);
    if (!kind->options)
      goto fail;
  }
  return kind;
fail:
  free(kind);
  free(name);
  return NULL;
}

/* ---- adding them ---- */

static size_t kind_count(const struct cb_plugin *plugin)
{
  size_t count = 0;
  while (plugin->kinds[count].family)
    count++;
  return count;
}

static void free_kind(struct cb_kind *copy, const struct cb_kind *original)
{
  const struct cb_option *option = copy->options;
  for (size_t i = 0; option && option[i].name; i++)
    if (option[i].preset != original->options[i].preset)
      free((void *)option[i].preset);
  free((void *)copy->options);
  free((void *)copy->name);
  free(copy);
}

/* Frees the first count copies, which nobody has seen yet. */
static void forget(struct loaded *loaded, const struct cb_plugin *plugin,
                   size_t count)
{
  for (size_t i = 0; i < count; i++)
    free_kind((struct cb_kind *)loaded->entries[i].kind, plugin->kinds[i].kind);
  free((void *)loaded->info.path);
  free((void *)loaded->info.prefix);
  free(loaded);
}

/* All names must be free before the first is taken. */
static int check_names(const struct loaded *loaded, struct cb_error *error)
{
  for (size_t i = 0; i < loaded->info.count; i++) {
    const struct cb_plugin_entry *entry = &loaded->entries[i];
    bool taken = cb_kind_find(entry->family, entry->kind->name, NULL);
    for (size_t j = 0; j < i; j++)
      taken |= loaded->entries[j].family == entry->family &&
               strcmp(loaded->entries[j].kind->name, entry->kind->name) == 0;
    if (taken)
      return cb_fail(error, -EEXIST,
                     "plug-in '%.60s': there is a %s '%.60s' already (a prefix "
                     "keeps two apart)",
                     loaded->info.name, entry->family->name, entry->kind->name);
  }
  return 0;
}

static int add_all(struct loaded *loaded, struct cb_error *error)
{
  int status = check_names(loaded, error);
  for (size_t i = 0; status == 0 && i < loaded->info.count; i++)
    status =
        cb_kind_add(loaded->entries[i].family, loaded->entries[i].kind, error);
  return status;
}

static void append(struct loaded *loaded)
{
  struct loaded *_Atomic *last = &first_loaded;
  struct loaded *next;
  while ((next = atomic_load_explicit(last, memory_order_relaxed)))
    last = &next->next;
  atomic_store_explicit(last, loaded, memory_order_release);
}

static const struct cb_plugin_info *add_plugin(const struct cb_plugin *plugin,
                                               const char *path,
                                               const char *prefix,
                                               struct cb_error *error)
{
  size_t count = kind_count(plugin), made = 0;
  struct loaded *loaded =
      calloc(1, sizeof *loaded + count * sizeof loaded->entries[0]);
  if (!loaded) {
    cb_fail(error, -ENOMEM, "out of memory");
    return NULL;
  }
  loaded->info = (struct cb_plugin_info){
      .path = strdup(path),
      .prefix = prefix ? strdup(prefix) : NULL,
      .name = plugin->name,
      .entries = loaded->entries,
      .count = count,
  };
  for (; made < count; made++) {
    struct cb_kind *kind =
        copy_kind(&plugin->kinds[made], plugin, prefix, error);
    if (!kind)
      break;
    loaded->entries[made] = (struct cb_plugin_entry){
        .family = cb_family_find(plugin->kinds[made].family), .kind = kind};
  }
  if (made < count || add_all(loaded, error) < 0) {
    forget(loaded, plugin, made);
    return NULL;
  }
  append(loaded);
  return &loaded->info;
}

/* ---- the public functions ---- */

static bool is_identifier(const char *word)
{
  return *word && !strchr("0123456789", *word) &&
         word[strspn(word, "abcdefghijklmnopqrstuvwxyz"
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] == '\0';
}

static bool same_prefix(const char *a, const char *b)
{
  return a && b ? strcmp(a, b) == 0 : a == b;
}

static const struct cb_plugin_info *find_loaded(const char *path,
                                                const char *prefix)
{
  const struct cb_plugin_info *info;
  for (size_t i = 0; (info = cb_plugin_at(i)); i++)
    if (strcmp(info->path, path) == 0 && same_prefix(info->prefix, prefix))
      return info;
  return NULL;
}

static const struct cb_plugin_info *load(const char *path, const char *prefix,
                                         struct cb_error *error)
{
  const struct cb_plugin_info *known = find_loaded(path, prefix);
  if (known)
    return known;
  const struct cb_plugin *plugin = open_plugin(path, error);
  return plugin ? add_plugin(plugin, path, prefix, error) : NULL;
}

const struct cb_plugin_info *
cb_plugin_load(const char *path, const char *prefix, struct cb_error *error)
{
  if (prefix && !is_identifier(prefix)) {
    cb_fail(error, -EINVAL, "prefix '%.60s' is no identifier", prefix);
    return NULL;
  }
  char *whole = realpath(path, NULL);
  if (!whole) {
    cb_fail(error, -errno, "cannot load plug-in '%.150s': %s", path,
            strerror(errno));
    return NULL;
  }
  pthread_mutex_lock(&loading);
  const struct cb_plugin_info *info = load(whole, prefix, error);
  pthread_mutex_unlock(&loading);
  free(whole);
  return info;
}

const struct cb_plugin_info *cb_plugin_at(size_t index)
{
  struct loaded *loaded =
      atomic_load_explicit(&first_loaded, memory_order_acquire);
  while (loaded && index--)
    loaded = atomic_load_explicit(&loaded->next, memory_order_acquire);
  return loaded ? &loaded->info : NULL;
}
