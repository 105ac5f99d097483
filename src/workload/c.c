/*
 * c.c - the workload `c`: a C statement, compiled when it is first wanted.
 *
 * The statement stands in a loop with nothing else but a compiler barrier, so
 * that variables in memory are read and written anew each time. It is compiled
 * into a plug-in like any other; within a process the same text is compiled
 * once. What the loop itself costs is the row of an empty statement.
 */
#define CB_PLUGIN_LOADER
#include "workload/plugin.h"

#include "workload/compile.h"
#include "workload/kinds.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `setup`, `init` and `code` take the places of the three %s. The #lines make
 * the compiler name its places as the user knows them. */
static const char text[] =
    "#include <cbench/plugin.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "#define CB_KEEP(value) "
    "__asm__ __volatile__(\"\" : : \"g\"(value) : \"memory\")\n"
    "#line 1 \"setup\"\n"
    "%s\n"
    "#line 1 \"statement\"\n"
    "static int cb_statement_setup(void *cb_state,\n"
    "    const struct cb_control *cb_control, struct cb_error *cb_error)\n"
    "{\n"
    "#line 1 \"init\"\n"
    "%s;\n"
    "#line 1 \"statement\"\n"
    "  return 0;\n"
    "}\n"
    "static uint64_t cb_statement_run(void *cb_state, unsigned thread,\n"
    "    uint64_t cb_n)\n"
    "{\n"
    "  uint64_t cb_done = 0;\n"
    "  for (; cb_done < cb_n; cb_done++) {\n"
    "    const uint64_t i = cb_done;\n"
    "#line 1 \"code\"\n"
    "%s;\n"
    "#line 1 \"statement\"\n"
    "    __asm__ __volatile__(\"\" : : : \"memory\");\n"
    "  }\n"
    "  return cb_done;\n"
    "}\n"
    "static int cb_statement_create(const struct cb_spec *cb_spec,\n"
    "    struct cb_workload *cb_workload, struct cb_error *cb_error)\n"
    "{\n"
    "  static const struct cb_role cb_role = {\n"
    "    .name = \"statement\", .threads = 1, .run = cb_statement_run};\n"
    "  cb_workload->roles = &cb_role;\n"
    "  cb_workload->setup = cb_statement_setup;\n"
    "  return 0;\n"
    "}\n"
    "static const struct cb_workload_kind cb_statement = {\n"
    "  .kind = {.name = \"statement\"}, .create = cb_statement_create};\n"
    "CB_PLUGIN(\"statement\", CB_PLUGIN_KIND(workload, cb_statement));\n";

/* ---- what was compiled ---- */

struct compiled {
  struct compiled *next;
  const struct cb_plugin *plugin;
  char *flags;
  char source[];
};

static struct compiled *compiled;
static pthread_mutex_t compiling = PTHREAD_MUTEX_INITIALIZER;

static const struct compiled *find(const char *source, const char *flags)
{
  const struct compiled *row = compiled;
  while (row &&
         (strcmp(row->source, source) != 0 || strcmp(row->flags, flags) != 0))
    row = row->next;
  return row;
}

/* With the lock held. Refusals are not kept: the next try may have a compiler.
 */
static const struct cb_plugin *compile(const char *source, const char *flags,
                                       struct cb_error *error)
{
  const struct compiled *known = find(source, flags);
  if (known)
    return known->plugin;
  struct compiled *row = malloc(sizeof *row + strlen(source) + 1);
  char *copy = strdup(flags);
  const struct cb_plugin *plugin = NULL;
  if (!row || !copy)
    cb_fail(error, -ENOMEM, "out of memory");
  else
    plugin = cb_compile(source, flags, error);
  if (!plugin) {
    free(row);
    free(copy);
    return NULL;
  }
  *row = (struct compiled){.next = compiled, .plugin = plugin, .flags = copy};
  strcpy(row->source, source);
  compiled = row;
  return plugin;
}

static const struct cb_plugin *compile_spec(const struct cb_spec *spec,
                                            struct cb_error *error)
{
  const char *setup = cb_spec_string(spec, "setup");
  const char *init = cb_spec_string(spec, "init");
  const char *code = cb_spec_string(spec, "code");
  size_t size = sizeof text + strlen(setup) + strlen(init) + strlen(code);
  char *source = malloc(size);
  if (!source) {
    cb_fail(error, -ENOMEM, "out of memory");
    return NULL;
  }
  snprintf(source, size, text, setup, init, code);
  pthread_mutex_lock(&compiling);
  const struct cb_plugin *plugin =
      compile(source, cb_spec_string(spec, "flags"), error);
  pthread_mutex_unlock(&compiling);
  free(source);
  return plugin;
}

/* ---- the kind ---- */

static void destroy(struct cb_workload *workload)
{
  free(workload->state);
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  const struct cb_plugin *plugin = compile_spec(spec, error);
  if (!plugin)
    return -EINVAL;
  struct cb_role *role = malloc(sizeof *role);
  if (!role)
    return cb_fail(error, -ENOMEM, "out of memory");
  const struct cb_workload_kind *kind =
      (const struct cb_workload_kind *)plugin->kinds[0].kind;
  struct cb_workload made = {.state = NULL};
  int status = kind->create(spec, &made, error);
  if (status < 0) {
    free(role);
    return status;
  }
  *role = made.roles[0];
  role->threads = (unsigned)cb_spec_integer(spec, "threads");
  *workload = (struct cb_workload){
      .operation = "one execution of the statement",
      .state = role,
      .roles = role,
      .role_count = 1,
      .setup = made.setup,
      .destroy = destroy,
  };
  return 0;
}

static const struct cb_option options[] = {
    {.name = "code",
     .type = CB_STRING,
     .preset = "",
     .help = "the statement; `i` counts its executions, `thread` the threads"},
    {.name = "setup",
     .type = CB_STRING,
     .preset = "",
     .help = "before all functions: includes, variables (not static), more"},
    {.name = "init",
     .type = CB_STRING,
     .preset = "",
     .help = "statements executed once before"},
    {.name = "flags",
     .type = CB_STRING,
     .preset = "-O2",
     .help = "for the compiler, $CC or cc"},
    {.name = "threads",
     .type = CB_INTEGER,
     .preset = "1",
     .min = 1,
     .max = 256,
     .help = "threads that execute it at once"},
    {.name = NULL}};

const struct cb_workload_kind cb_workload_c = {
    .kind.name = "c",
    .kind.summary = "a statement in C, compiled by the local compiler",
    .kind.options = options,
    .create = create};
