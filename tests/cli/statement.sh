#!/bin/sh
# workload.c: a statement in C is compiled, measured, and leaves nothing behind.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkdir temporary
export TMPDIR="$folder/temporary"

echo 1..16
out=$folder/out
. "$top_srcdir/tests/cli/tap.sh"
says() { # PATTERN CODE: what the code prints
  "$CBENCH" -e "local cbench = require 'cbench'; local c = cbench.workload.c
    local brief = { time = 30, rounds = 5 }
    $2" >out 2>&1
  grep -qF -- "$1" out
}

says 'ok statement 3' "
  local results = cbench.measure({
    c { code = 'x = hash(buf, 64);', setup = [[
      unsigned x; char buf[64];
      static unsigned hash(const char *text, int n)
      {
        unsigned sum = 5381;
        for (int i = 0; i < n; i++) sum = sum * 33 + (unsigned)text[i];
        return sum;
      }]] },
    c {},
  }, brief)
  local times = results[1].ticks.typical / results[2].ticks.typical
  print(results[1].status .. ' ' .. results[1].op:match 'statement'
    .. ' ' .. math.min(3, times // 1 | 0))"
result $? "a hash of 64 bytes takes several times what an empty statement does"
says 'ok 2' "
  local record = cbench.measure(c { code = 'CB_KEEP(i);' },
    { time = 30, rounds = 3, forks = 2 })
  print(record.status .. ' ' .. record.forks)"
result $? "fresh processes compile it too"
says 'ok 2 threads' "
  local record = cbench.measure(c { code = 'CB_KEEP(thread);', threads = 2 },
    brief)
  print(record.status .. ' ' .. record.threads .. ' threads')"
result $? "several threads"
says 'ok' "
  print(cbench.measure(c { code = 'if (text[0] != 65) abort();',
    setup = 'char text[9];', init = 'memset(text, 65, 9)' }, brief).status)"
result $? "init runs before"
says 'ok' "
  print(cbench.measure(c { code = 'x = sin(x);', flags = '-O3 -lm',
    setup = '#include <math.h>\ndouble x = 1;' }, brief).status)"
result $? "flags reach the compiler, libraries too"
says "code:1:1: error: " "print(pcall(cbench.measure, c { code = 'y = 1;' }))"
result $? "an error says where in the statement"
says "setup:2:" "print(pcall(cbench.measure, c { setup = 'int y;\nfoo y;' }))"
result $? "and where in the setup"
says "undefined reference to" "
  print(pcall(cbench.measure, c { code = 'f();', setup = 'void f(void);' }))"
result $? "a function that is not there is named"
says "unknown option 'cod' of 'c' (did you mean 'code'?)" \
  "print(pcall(c, { cod = '' }))"
result $? "options are checked"
CC=no-such-compiler says "cannot run the compiler 'no-such-compiler'" \
  "print(pcall(cbench.measure, c {}))"
result $? "a missing compiler is named"
TMPDIR=$folder/nowhere says "cannot make the folder '$folder/nowhere" \
  "print(pcall(cbench.measure, c {}))"
result $? "a missing temporary folder is named"

# A compiler that says when it runs, and then does not end.
mkfifo ready
cat >compiler <<'END'
#!/bin/sh
echo "$PPID" >ready
exec sleep 60
END
chmod +x compiler
cat >statement.lua <<'END'
local cbench = require "cbench"
return cbench.scenario { title = "c", workload = cbench.workload.c {} }
END
stopped() { # SIGNAL CODE: the exit code when it comes while the compiler runs
  env --default-signal=INT CC="$folder/compiler" "$CBENCH" statement.lua -q \
    >out 2>&1 &
  read -r pid <ready
  kill -s "$1" "$pid"
  wait $!
  code=$?
  [ "$code" = "$2" ] && [ -z "$(ls temporary)" ]
}
stopped INT 130
result $? "Ctrl-C while it is compiled: 130, and the folder is gone"
stopped TERM 143
result $? "SIGTERM while it is compiled: 143, and the folder is gone"
crash="a statement that ends its process fails its row, and no other"
named="and its row is named, also by ab"
if [ "${SANITIZE:-no}" != no ]; then
  skip "$crash" "sanitizers handle the signal"
  skip "$named" "sanitizers handle the signal"
else
  says 'all told' "
    local results = cbench.measure({
      c { name = 'good', code = 'CB_KEEP(i);' },
      c { name = 'crash', code = '*(volatile int *)0 = 1;' },
      c { name = 'late', setup = 'int calls;',
        code = 'if (++calls == 100) abort();' },
      c { name = 'thread', threads = 2,
        code = 'if (thread == 1) *(volatile int *)0 = 1;' },
      c { name = 'exit', code = 'exit(3);' },
      c { name = 'init', init = 'abort();' },
    }, { time = 60, rounds = 3, forks = 3 })
    assert(results.good.status == 'ok' and results.good.forks == 3)
    local how = { crash = 'signal 11 (SIGSEGV)', late = 'signal 6 (SIGABRT)',
      thread = 'signal 11 (SIGSEGV)', exit = 'exit 3',
      init = 'signal 6 (SIGABRT)' }
    for name, ended in pairs(how) do
      assert(results[name].status == 'fail', name)
      assert(results[name].reason == 'a measuring process ended by ' .. ended,
        name .. ': ' .. results[name].reason)
    end
    local alone = cbench.measure(c { code = 'abort();' },
      { time = 30, rounds = 3, forks = 2 })
    assert(alone.status == 'fail' and alone.reason:find 'SIGABRT')
    print 'all told'"
  result $? "$crash"
  cat >crash.lua <<'END'
local cbench = require "cbench"
return cbench.scenario {
  title = "crash", params = { k = { 1, 2 } },
  workload = function (p)
    return cbench.workload.c { code = p.k == 2 and "abort();" or "" }
  end,
}
END
  ended="FAIL: a measuring process ended by signal 6 (SIGABRT)"
  "$CBENCH" crash.lua -T 30 -r 3 -F 2 >out 2>&1
  [ $? = 1 ] && grep -qF "k=2: $ended" out && grep -q '^ *1  *[0-9]' out &&
    ! "$CBENCH" ab --a "$CBENCH" --b "$CBENCH" crash.lua -T 30 -r 3 -F 2 \
      >out 2>&1 && grep -qF "A: k=2: ${ended#FAIL: }" out
  result $? "$named"
fi
ls temporary >out
[ ! -s out ]
result $? "nothing is left behind"
