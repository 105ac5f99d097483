#!/bin/sh
# The peers: each loads, writes nothing to stdout, is measured in fresh
# processes beside ours, and its kinds pass the tests of their family.
peers='ck boost_context pcl dpdk cxx_queues'
export CBENCH_PLUGIN_PATH="$top_builddir/peers/.libs"
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT

echo 1..15
number=0
result() { # STATUS NAME
  number=$((number + 1))
  if [ "$1" = 0 ]; then
    echo "ok $number - $2"
  else
    echo "not ok $number - $2"
    tail -n 30 "$out" | sed 's/^/# /'
  fi
}
skip() { # NAME REASON
  number=$((number + 1))
  echo "ok $number - $1 # SKIP $2"
}
lacks() { # PEER NAME: skips when the peer is not there
  case " $PEERS " in
  *" peers/$1.la "*)
    [ "$SANITIZE" != no ] || return 1
    skip "$2" "not with sanitizers"
    ;;
  *) skip "$2" "configured without it" ;;
  esac
}
says() { # PATTERN CODE
  "$CBENCH" -e "local cbench = require 'cbench'
    local workload = cbench.workload
    local brief = { time = 30, rounds = 3, forks = 2 }
    $2" >"$out" 2>&1 && grep -qF -- "$1" "$out"
}
family() { # PEER TEST
  name="$1: $2 holds for its kinds"
  lacks "$1" "$name" && return
  if [ -x "$top_builddir/$2" ]; then
    CB_TEST_PLUGINS="$CBENCH_PLUGIN_PATH/$1.so" CMOCKA_MESSAGE_OUTPUT=TAP \
      "$top_builddir/$2" >"$out" 2>&1
    result $? "$name"
  else
    skip "$name" "no C tests here"
  fi
}

for peer in $peers; do
  lacks $peer "$peer: loads without a word" && continue
  says "ok $peer" "
    local plugin = assert(cbench.load '$peer')
    print('ok ' .. plugin.name)" && [ "$(wc -l <"$out")" = 1 ]
  result $? "$peer: loads without a word"
done

measured() { # PEER NAME WORKLOADS: every row is ok and so is its proof
  lacks "$1" "$1: $2" && return
  says 'all ok' "
    cbench.load '$1'
    for _, row in ipairs(cbench.measure({ $3 }, brief)) do
      assert(row.status == 'ok', row.name .. ': ' .. tostring(row.reason))
      assert(row.forks == 2)
    end
    print 'all ok'" && [ "$(wc -l <"$out")" = 1 ]
  result $? "$1: $2"
}
measured ck 'locks are measured' "workload.lock { lock = 'ck_fas' },
  workload.lock { lock = 'ck_mcs', threads = 2 },
  workload.lock { lock = 'ck_ticket' }"
measured boost_context 'coroutines are measured' "
  workload.yield { backend = 'boost_context' },
  workload.nesting { backend = 'boost_context', depth = 100 },
  workload.lifecycle { backend = 'boost_context' }"
measured pcl 'coroutines are measured' "workload.yield { backend = 'pcl' },
  workload.nesting { backend = 'pcl', depth = 100 },
  workload.lifecycle { backend = 'pcl' }"

family ck test_ring
family ck test_lock
family boost_context test_coroutine
family pcl test_coroutine
family dpdk test_ring
family cxx_queues test_ring

says "cannot find plug-in 'ckk'" "print(cbench.load 'ckk')"
result $? "a peer that is not there is named"
