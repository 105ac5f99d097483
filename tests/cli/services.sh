#!/bin/sh
# Services where something is missing: a kernel without membarrier, threads for
# a functional check; and a fence on the run path, which must be.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

echo 1..11
out=$folder/out
. "$top_srcdir/tests/cli/tap.sh"
says() { # PATTERN COMMAND...
  pattern=$1
  shift
  "$@" >out 2>&1
  grep -q -- "$pattern" out
}

# Runs a command for which the system call membarrier does not exist.
cat >without.c <<'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **words)
{
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (count < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    return 99;
  execv(words[1], words + 1);
  return 98;
}
END
$CC -o without without.c >out 2>&1
result $? "the filter compiles"
./without /bin/true
case $? in
  0) filter=yes ;;
  *) filter= ;;
esac
if [ "$("$CBENCH" info | grep -c 'quiescence  by membarrier')" = 1 ]; then
  says 'by membarrier: runs of a service take no fence' "$CBENCH" info
  result $? "info says how services come to rest"
else
  says 'this kernel has no membarrier' "$CBENCH" info
  result $? "info says what is missing"
fi
if [ "$filter" ]; then
  says 'by fences: this kernel has no membarrier' ./without "$CBENCH" info
  result $? "info says when membarrier is missing"
  says '"quiescence": *"fence"' ./without "$CBENCH" info --format json
  result $? "so it does for programs"
  says 'ok' ./without "$CBENCH" -e "
    local cbench = require 'cbench'
    print(cbench.measure(cbench.workload.service_run { contenders = 1 },
      { time = 0.5, rounds = 5 }).status)"
  result $? "services run without it"
else
  for name in "info without membarrier" "the same for programs" \
    "services without it"; do
    skip "$name" "no seccomp filters here"
  done
fi

# A library that is loaded first and takes away what the check needs: no thread
# can be started after the first, which is the watchdog.
cat >broken.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                   void *);

/* Only in the first process that asks, where $ONCE names a file to be made. */
static int may_start(void)
{
  static int first = -1;
  const char *once = getenv("ONCE");
  if (first < 0)
    first = once && open(once, O_CREAT | O_EXCL, 0600) >= 0;
  return first;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*start)(void *), void *argument)
{
  static int count;
  if (count++ > 0 && !may_start())
    return EAGAIN;
  create *real = (create *)dlsym(RTLD_NEXT, "pthread_create");
  return real(thread, attributes, start, argument);
}
END
row='
  local cbench = require "cbench"
  local results = cbench.measure({ cbench.workload.service_run {},
    cbench.workload.call {} }, { time = 0.5, rounds = 5 })
  print(results)
  assert(results[1].ticks == nil and results[2].ticks)'
if [ "${SANITIZE:-no}" != no ]; then
  for name in compiles skipped "no figure" once; do
    skip "a check that cannot run: $name" "its library goes before the sanitizer"
  done
else
  $CC -shared -fPIC -o broken.so broken.c -ldl >out 2>&1
  result $? "the library compiles"
  says 'FAIL: no figures: the functional check service_app_lcore_mt_safe skipped' \
    env LD_PRELOAD="$folder/broken.so" "$CBENCH" -e "$row"
  result $? "a row whose check was skipped says so"
  env LD_PRELOAD="$folder/broken.so" "$CBENCH" -e "$row" >out 2>&1
  result $? "and has no figure, while others have theirs"
  says 'ok 3' env LD_PRELOAD="$folder/broken.so" ONCE="$folder/once" \
    "$CBENCH" -e '
      local cbench = require "cbench"
      local row = cbench.measure({ cbench.workload.service_run {} },
        { time = 30, rounds = 5, forks = 3 })[1]
      io.write(row.status, " ", row.forks)'
  result $? "a check runs in the first process, for all of them"
fi

# How many instructions that order memory the run path has in the functions of
# one order: of the lock "none", so that all there are would be fences.
ordering() { # ORDER
  awk -v order="CB_ORDER_$1_" '
    /^[0-9a-f]+ </ { inside = $2 ~ /^<(run|repeat|spin)_/ && index($2, order) }
    /xchg +%ax,%ax/ { next } # a nop
    inside && /mfence|lock|xchg/ { count++ }
    inside && /^[0-9a-f]+ </ { functions++ }
    END { print functions + 0, count + 0 }' loops.s
}
if [ "$(uname -m)" != x86_64 ]; then
  skip "no fence on the run path" "its instructions are known on x86-64"
  skip "fences where they are asked for" "the same"
else
  $CC -std=c11 -O2 -D_GNU_SOURCE -I"$top_srcdir/src" -I"$top_builddir" \
    -c "$top_srcdir/src/service/loops_none.c" -o loops.o >out 2>&1 &&
    $OBJDUMP -d --no-show-raw-insn loops.o >loops.s
  [ "$(ordering ACQREL)" = "13 0" ]
  result $? "no fence on the run path"
  set -- $(ordering SEQCST) $(ordering FENCE)
  [ "$1" = 13 ] && [ "$2" -ge 13 ] && [ "$3" = 13 ] && [ "$4" -ge 13 ]
  result $? "fences where they are asked for"
fi
