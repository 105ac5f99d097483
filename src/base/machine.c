/*
 * machine.c - where figures were measured, by what, and what went on.
 *
 * Everything is read from /proc, /sys and the compiler; nothing is written, and
 * what is not told is called unknown. Facts are two tables: a name and the
 * function that finds its text or number. The fingerprints are hashes of those
 * that must be equal for absolute figures to be comparable.
 */
#include "config.h"
#include "revision.h"

#include "base/ticks.h"
#include "base/topology.h"

#include <errno.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

enum { TEXT = 512, FACTS = 64 };

struct cb_machine {
  size_t count;
  struct cb_fact facts[FACTS];
};

/* ---- reading ------------------------------------------------------------- */

/* The first line of a file, without its newline; false when there is none. */
static bool read_line(const char *path, char *text)
{
  FILE *file = fopen(path, "re");
  bool found = file && fgets(text, TEXT, file);
  if (file)
    fclose(file);
  if (found)
    text[strcspn(text, "\n")] = '\0';
  return found && text[0];
}

/* The value behind "name<blanks>:" in the first line of a file that begins so.
 */
static bool read_entry(const char *path, const char *name, char *text)
{
  char line[4096];
  bool found = false;
  FILE *file = fopen(path, "re");
  while (file && !found && fgets(line, sizeof line, file)) {
    size_t length = strlen(name);
    if (strncmp(line, name, length) != 0)
      continue;
    const char *value = line + length + strspn(line + length, " \t");
    if (*value != ':')
      continue;
    value += 1 + strspn(value + 1, " \t");
    snprintf(text, TEXT, "%.*s", (int)strcspn(value, "\n"), value);
    found = true;
  }
  if (file)
    fclose(file);
  return found && text[0];
}

/* Is word among those of a text, which blanks separate? */
static bool has_word(const char *text, const char *word)
{
  size_t length = strlen(word);
  for (const char *at = text; (at = strstr(at, word)); at += length)
    if ((at == text || at[-1] == ' ') &&
        (at[length] == ' ' || at[length] == '\0'))
      return true;
  return false;
}

static bool has_flag(const char *flag)
{
  char line[4096];
  bool found = false;
  FILE *file = fopen("/proc/cpuinfo", "re");
  while (file && !found && fgets(line, sizeof line, file))
    if (strncmp(line, "flags", 5) == 0) {
      line[strcspn(line, "\n")] = '\0';
      found = has_word(line, flag);
      break;
    }
  if (file)
    fclose(file);
  return found;
}

/* ---- the machine --------------------------------------------------------- */

static void find_host(char *text)
{
  struct utsname name;
  snprintf(text, TEXT, "%s", uname(&name) == 0 ? name.nodename : "unknown");
}

static void find_cpu(char *text)
{
  char part[TEXT];
  if (read_entry("/proc/cpuinfo", "model name", text) ||
      read_entry("/proc/cpuinfo", "cpu", text))
    return;
  if (read_entry("/proc/cpuinfo", "CPU implementer", text) &&
      read_entry("/proc/cpuinfo", "CPU part", part)) {
    char implementer[32];
    snprintf(implementer, sizeof implementer, "%.31s", text);
    snprintf(text, TEXT, "implementer %s part %.100s", implementer, part);
    return;
  }
  snprintf(text, TEXT, "unknown");
}

static void find_microcode(char *text)
{
  if (!read_entry("/proc/cpuinfo", "microcode", text))
    snprintf(text, TEXT, "unknown");
}

/* A guest knows its host by the clock that this offers, else by the names that
 * the firmware gives; asking the processor itself would trap. */
static void find_hypervisor(char *text)
{
  static const char *const clocks[][2] = {
      {"kvm-clock", "KVM"},
      {"hyperv_clocksource_tsc_page", "Hyper-V"},
      {"hyperv_clocksource_msr", "Hyper-V"},
      {"xen", "Xen"}};
  char line[TEXT];
  if (read_line("/sys/devices/system/clocksource/clocksource0/"
                "available_clocksource",
                line))
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
      if (has_word(line, clocks[i][0])) {
        snprintf(text, TEXT, "%s", clocks[i][1]);
        return;
      }
  if (read_line("/sys/hypervisor/type", text))
    return;
  bool guest = has_flag("hypervisor");
  if (guest && read_line("/sys/class/dmi/id/sys_vendor", text))
    return;
  snprintf(text, TEXT, "%s", guest ? "unknown" : "none seen");
}

/* As the system writes it: "0-3,8". */
static void find_allowed(char *text)
{
  enum { MOST = 1024 };
  int cpus[MOST];
  size_t count = cb_cpus_allowed(cpus, MOST), used = 0;
  count = count < MOST ? count : MOST;
  text[0] = '\0';
  for (size_t i = 0; i < count && used < TEXT - 30;) {
    size_t last = i;
    while (last + 1 < count && cpus[last + 1] == cpus[last] + 1)
      last++;
    used += (size_t)snprintf(text + used, TEXT - used, "%s%d", i ? "," : "",
                             cpus[i]);
    if (last > i)
      used += (size_t)snprintf(text + used, TEXT - used, "-%d", cpus[last]);
    i = last + 1;
  }
}

static void find_frequency(char *text)
{
  char path[128], governor[TEXT], boost[TEXT];
  int cpu = 0;
  cb_cpus_allowed(&cpu, 1);
  snprintf(path, sizeof path,
           "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
  if (!read_line(path, governor)) {
    snprintf(text, TEXT, "unknown (no cpufreq)");
    return;
  }
  const char *state = "unknown";
  if (read_line("/sys/devices/system/cpu/cpufreq/boost", boost))
    state = boost[0] == '1' ? "on" : "off";
  else if (read_line("/sys/devices/system/cpu/intel_pstate/no_turbo", boost))
    state = boost[0] == '0' ? "on" : "off";
  snprintf(text, TEXT, "governor %.100s, boost %s", governor, state);
}

static void find_smt(char *text)
{
  char active[TEXT];
  if (!read_line("/sys/devices/system/cpu/smt/active", active))
    snprintf(text, TEXT, "unknown");
  else
    snprintf(text, TEXT, "%s", active[0] == '1' ? "on" : "off, or not shown");
}

static void find_clock(char *text)
{
  snprintf(text, TEXT, "%s", cb_clock()->source);
}

static void find_clock_basis(char *text)
{
  snprintf(text, TEXT, "%s", cb_clock()->basis);
}

static void find_kernel(char *text)
{
  struct utsname name;
  if (uname(&name) == 0)
    snprintf(text, TEXT, "%s %.200s %.60s", name.sysname, name.release,
             name.machine);
  else
    snprintf(text, TEXT, "unknown");
}

static void find_libc(char *text)
{
#ifdef __GLIBC__
  snprintf(text, TEXT, "glibc %s", gnu_get_libc_version());
#else
  snprintf(text, TEXT, "unknown");
#endif
}

static double online(void)
{
  return (double)sysconf(_SC_NPROCESSORS_ONLN);
}

static double clock_hz(void)
{
  return cb_clock()->hz;
}

static double clock_cost(void)
{
  return cb_clock()->cost;
}

/* ---- the build ----------------------------------------------------------- */

static void find_version(char *text)
{
  snprintf(text, TEXT, "%s", cb_version());
}

/* The commit, where it was built in a checkout. */
static void find_revision(char *text)
{
  snprintf(text, TEXT, "%s", CB_REVISION);
}

/* By the compiler that compiled this very file. */
static void find_compiler(char *text)
{
#if defined __clang__
  snprintf(text, TEXT, "%s", __VERSION__);
#else
  snprintf(text, TEXT, "gcc %s", __VERSION__);
#endif
}

static void find_flags(char *text)
{
  snprintf(text, TEXT, "%s", CB_COMPILE_FLAGS);
}

static void find_optimised(char *text)
{
#ifdef __OPTIMIZE__
  snprintf(text, TEXT, "yes");
#else
  snprintf(text, TEXT, "no");
#endif
}

static void find_assembly(char *text)
{
#ifdef CB_ASM
  snprintf(text, TEXT, "yes");
#else
  snprintf(text, TEXT, "no");
#endif
}

static void find_sanitizers(char *text)
{
#ifdef CB_SANITIZE
  snprintf(text, TEXT, "%s", CB_SANITIZE);
#else
  snprintf(text, TEXT, "none");
#endif
}

static void find_hwloc(char *text)
{
#ifdef HAVE_HWLOC
  snprintf(text, TEXT, "yes");
#else
  snprintf(text, TEXT, "no");
#endif
}

/* ---- the moment ---------------------------------------------------------- */

static void find_aslr(char *text)
{
  char line[TEXT];
  int persona = personality(0xffffffff);
  if (persona >= 0 && persona & ADDR_NO_RANDOMIZE)
    snprintf(text, TEXT, "off for this process");
  else if (!read_line("/proc/sys/kernel/randomize_va_space", line))
    snprintf(text, TEXT, "unknown");
  else
    snprintf(text, TEXT, "%s",
             line[0] == '2'   ? "full"
             : line[0] == '1' ? "partial"
                              : "off");
}

/* The word in brackets: "always [madvise] never". */
static void find_thp(char *text)
{
  char line[TEXT];
  snprintf(text, TEXT, "unknown");
  if (!read_line("/sys/kernel/mm/transparent_hugepage/enabled", line))
    return;
  const char *word = strchr(line, '[');
  if (word)
    snprintf(text, TEXT, "%.*s", (int)strcspn(word + 1, "]"), word + 1);
}

static void tell_quota(char *text, double quota, double period)
{
  if (quota > 0 && period > 0)
    snprintf(text, TEXT, "%.4g CPUs", quota / period);
  else
    snprintf(text, TEXT, "none");
}

/* Of the group that this process sees as the top, or of its own where the
 * hierarchy is shown whole. */
static void find_quota(char *text)
{
  char line[TEXT], group[TEXT] = "", path[TEXT + 64];
  double quota = 0, period = 0;
  FILE *file = fopen("/proc/self/cgroup", "re");
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, "0::", 3) == 0)
      snprintf(group, sizeof group, "%.*s", (int)strcspn(line + 3, "\n"),
               line + 3);
  if (file)
    fclose(file);
  snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
  if (read_line(path, line) || read_line("/sys/fs/cgroup/cpu.max", line)) {
    if (sscanf(line, "%lf %lf", &quota, &period) != 2)
      quota = 0; /* "max 100000" */
    tell_quota(text, quota, period);
  } else if (read_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", line)) {
    quota = strtod(line, NULL);
    if (read_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us", line))
      period = strtod(line, NULL);
    tell_quota(text, quota, period);
  } else {
    snprintf(text, TEXT, "unknown");
  }
}

static double load_average(void)
{
  double load;
  return getloadavg(&load, 1) == 1 ? load : NAN;
}

/* Seconds that the host gave to others since the start of the machine, of all
 * CPUs together. */
static double stolen_seconds(void)
{
  double steal = NAN;
  FILE *file = fopen("/proc/stat", "re");
  if (file) {
    double ticks;
    if (fscanf(file, "cpu %*s %*s %*s %*s %*s %*s %*s %lf", &ticks) == 1)
      steal = ticks / (double)sysconf(_SC_CLK_TCK);
    fclose(file);
  }
  return steal;
}

/* ---- the code ------------------------------------------------------------ */

/* FNV-1a. */
static uint64_t hash_byte(uint64_t sum, unsigned char byte)
{
  return (sum ^ byte) * UINT64_C(0x100000001b3);
}

static const uint64_t hash_start = UINT64_C(0xcbf29ce484222325);

/* Hashes the segment of code in which this function lies. Nothing in it depends
 * on where it was loaded. */
static int hash_own(struct dl_phdr_info *object, size_t size, void *sum)
{
  uintptr_t here = (uintptr_t)&hash_own;
  (void)size;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    uintptr_t from = object->dlpi_addr + segment->p_vaddr;
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) ||
        here < from || here >= from + segment->p_filesz)
      continue;
    uint64_t hash = hash_start;
    for (size_t at = 0; at < segment->p_filesz; at++)
      hash = hash_byte(hash, ((const unsigned char *)from)[at]);
    *(uint64_t *)sum = hash;
    return 1;
  }
  return 0;
}

/* Two builds of one version differ in nothing else that could be told. */
static void find_code(char *text)
{
  static _Atomic uint64_t known_sum; /* it does not change while it runs */
  uint64_t sum = known_sum;
  if (sum != 0 || dl_iterate_phdr(hash_own, &sum))
    snprintf(text, TEXT, "%016llx", (unsigned long long)sum);
  else
    snprintf(text, TEXT, "unknown");
  known_sum = sum;
}

/* ---- topology, for who wants to wait for it ------------------------------ */

static double cores(void)
{
  return (double)cb_topology()->cores;
}

static double caches(void)
{
  return (double)cb_topology()->caches;
}

static double packages(void)
{
  return (double)cb_topology()->packages;
}

/* ---- the list ------------------------------------------------------------ */

enum mark {
  PLAIN,
  IDENTITY, /* part of the fingerprint of its group */
  SLOW      /* needs the topology */
};

static const struct {
  const char *group, *name;
  enum mark mark;
  void (*text)(char *text); /* of TEXT bytes; one of these two */
  double (*number)(void);
} known[] = {
    {"machine", "host", PLAIN, find_host, NULL},
    {"machine", "cpu", IDENTITY, find_cpu, NULL},
    {"machine", "microcode", IDENTITY, find_microcode, NULL},
    {"machine", "hypervisor", IDENTITY, find_hypervisor, NULL},
    {"machine", "cpus_online", IDENTITY, NULL, online},
    {"machine", "cpus_allowed", PLAIN, find_allowed, NULL},
    {"machine", "cores", SLOW, NULL, cores},
    {"machine", "caches", SLOW, NULL, caches},
    {"machine", "packages", SLOW, NULL, packages},
    {"machine", "smt", IDENTITY, find_smt, NULL},
    {"machine", "frequency", PLAIN, find_frequency, NULL},
    {"machine", "clock", IDENTITY, find_clock, NULL},
    {"machine", "clock_basis", PLAIN, find_clock_basis, NULL},
    {"machine", "clock_hz", PLAIN, NULL, clock_hz},
    {"machine", "clock_cost", PLAIN, NULL, clock_cost},
    {"machine", "kernel", IDENTITY, find_kernel, NULL},
    {"machine", "libc", PLAIN, find_libc, NULL},
    {"build", "version", IDENTITY, find_version, NULL},
    {"build", "revision", PLAIN, find_revision, NULL},
    {"build", "compiler", IDENTITY, find_compiler, NULL},
    {"build", "flags", IDENTITY, find_flags, NULL},
    {"build", "optimised", IDENTITY, find_optimised, NULL},
    {"build", "assembly", IDENTITY, find_assembly, NULL},
    {"build", "sanitizers", IDENTITY, find_sanitizers, NULL},
    {"build", "hwloc", PLAIN, find_hwloc, NULL},
    {"build", "code", PLAIN, find_code, NULL},
    {"state", "aslr", PLAIN, find_aslr, NULL},
    {"state", "huge_pages", PLAIN, find_thp, NULL},
    {"state", "quota", PLAIN, find_quota, NULL},
    {"state", "load", PLAIN, NULL, load_average},
    {"state", "stolen_s", PLAIN, NULL, stolen_seconds},
};

static uint64_t hash(uint64_t sum, const char *text)
{
  do
    sum = hash_byte(sum, (unsigned char)*text);
  while (*text++);
  return sum;
}

static bool add(struct cb_machine *machine, const char *group, const char *name,
                const char *text, double number)
{
  struct cb_fact fact = {.group = group, .name = name, .number = number};
  if (text && !(fact.text = strdup(text)))
    return false;
  machine->facts[machine->count++] = fact;
  return true;
}

static bool add_fingerprint(struct cb_machine *machine, const char *group)
{
  char text[TEXT];
  uint64_t sum = hash_start;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(known[i].group, group) != 0 || known[i].mark != IDENTITY)
      continue;
    if (known[i].text)
      known[i].text(text);
    else
      snprintf(text, sizeof text, "%.17g", known[i].number());
    sum = hash(sum, text);
  }
  snprintf(text, sizeof text, "%016llx", (unsigned long long)sum);
  return add(machine, group, "fingerprint", text, 0);
}

struct cb_machine *cb_machine_read(bool topology, struct cb_error *error)
{
  char text[TEXT];
  struct cb_machine *machine = calloc(1, sizeof *machine);
  bool added = machine != NULL;
  for (size_t i = 0; added && i < sizeof known / sizeof *known; i++) {
    if (known[i].mark == SLOW && !topology)
      continue;
    if (known[i].text)
      known[i].text(text);
    added =
        add(machine, known[i].group, known[i].name, known[i].text ? text : NULL,
            known[i].number ? known[i].number() : 0);
  }
  if (added && add_fingerprint(machine, "machine") &&
      add_fingerprint(machine, "build"))
    return machine;
  cb_fail(error, -ENOMEM, "out of memory");
  cb_machine_destroy(machine);
  return NULL;
}

const struct cb_fact *cb_machine_facts(const struct cb_machine *machine)
{
  return machine->facts;
}

void cb_machine_destroy(struct cb_machine *machine)
{
  if (!machine)
    return;
  for (size_t i = 0; i < machine->count; i++)
    free((char *)machine->facts[i].text);
  free(machine);
}
