#!/bin/sh
# The peers: each loads, writes nothing to stdout, is measured in fresh
# processes beside ours, and its kinds pass the tests of their family.
peers='ck boost_context pcl dpdk cxx_queues'
export CBENCH_PLUGIN_PATH="$top_builddir/peers/.libs"
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT

echo 1..26
. "$top_srcdir/tests/cli/tap.sh"
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

measured dpdk 'services are measured' "workload.rte_service_run {},
  workload.rte_service_run { mt_safe = false, contenders = 1 },
  workload.rte_service_run { stats = true }"
if [ "$(nproc)" -gt 1 ]; then
  measured dpdk 'a service lcore is measured' "workload.rte_service_loop {},
    workload.rte_service_loop { services = 64, running = 64, stats = true },
    workload.rte_service_loop { services = 8, running = 1, mt_safe = false }"
else
  skip "dpdk: a service lcore is measured" "one CPU only"
fi

# Two at once, affinity as it was, nothing left of the runtime folders.
name="dpdk: two processes at once, and nothing is left"
if ! lacks dpdk "$name"; then
  code="
    local cbench = require 'cbench'
    assert(cbench.load 'dpdk')
    local function affinity()
      for line in io.lines '/proc/self/status' do
        local list = line:match '^Cpus_allowed_list:%s*(%S+)'
        if list then return list end
      end
    end
    local before = affinity()
    local row = cbench.measure(cbench.workload.rte_service_run {},
      { time = 30, rounds = 3 })
    assert(row.status == 'ok', row.reason)
    assert(before == affinity(), affinity())
    assert(cbench.measure(cbench.workload.rte_service_run { stats = true },
      { time = 30, rounds = 3 }).status == 'ok')
    print 'fine'"
  "$CBENCH" -e "$code" >"$out" 2>&1 &
  first=$!
  "$CBENCH" -e "$code" >"$out.2" 2>&1 &
  second=$!
  wait $first && wait $second && cat "$out.2" >>"$out" &&
    [ "$(cat "$out")" = "fine
fine" ] && ! ls -d /var/run/dpdk/cbench-$first /var/run/dpdk/cbench-$second \
    "${XDG_RUNTIME_DIR:-/tmp}/dpdk/cbench-$first" 2>/dev/null >>"$out"
  result $? "$name"
  rm -f "$out.2"
fi
name="dpdk: a parent that only describes does not start it"
if ! lacks dpdk "$name"; then
  says "no thread more" "
    cbench.load 'dpdk'
    local row = cbench.measure(workload.rte_service_run {}, brief)
    assert(row.status == 'ok', row.reason)
    local threads = 0
    for _ in io.popen('ls /proc/' .. io.open('/proc/self/stat'):read 'n'
      .. '/task'):lines() do threads = threads + 1 end
    print(threads == 1 and 'no thread more' or threads .. ' threads')"
  result $? "$name"
fi

# What another program's DPDK is to it, that of a second plug-in is to this.
name="dpdk: one that was started already is left alone, in one sentence"
if ! lacks dpdk "$name"; then
  copy=$(mktemp -d) && cp "$CBENCH_PLUGIN_PATH/dpdk.so" "$copy/dpdk.so"
  says "this program has started DPDK itself: its services are left alone" "
    cbench.load 'dpdk'
    assert(cbench.load('$copy/dpdk.so', 'again'))
    local once = { time = 30, rounds = 3 }
    assert(cbench.measure(workload.rte_service_run {}, once).status == 'ok')
    local row = cbench.measure(workload.again_rte_service_run {}, once)
    assert(row.status == 'fail')
    print(row.reason)" && [ "$(wc -l <"$out")" = 1 ]
  result $? "$name"
  rm -rf "$copy"
fi
name="pcl: its library that is not there is named"
if ! lacks pcl "$name"; then
  copy=$(mktemp -d)
  sed 's/libpcl\.so/libnot.so/' "$CBENCH_PLUGIN_PATH/pcl.so" >"$copy/pcl.so"
  says "pcl.so': libnot.so" "print(cbench.load '$copy/pcl.so')" &&
    [ "$(wc -l <"$out")" = 1 ]
  result $? "$name"
  rm -rf "$copy"
fi

name="pcl: its library of another version is one clear sentence"
if ! lacks pcl "$name"; then
  copy=$(mktemp -d)
  echo 'int another;' >"$copy/other.c" &&
    $CC -shared -fPIC -Wl,-soname,libpcl.so.1 "$copy/other.c" \
      -o "$copy/libpcl.so.1" &&
    (
      export LD_LIBRARY_PATH="$copy"
      says '(a library that it needs may be of another version)' \
        "print(cbench.load 'pcl')"
    ) && [ "$(wc -l <"$out")" = 1 ]
  result $? "$name"
  rm -rf "$copy"
fi

family ck test_ring
family ck test_lock
family boost_context test_coroutine
family pcl test_coroutine
family dpdk test_ring
family cxx_queues test_ring

# Without a peer its rows say how to get it, and the others run.
folder=$(mktemp -d) && cp "$CBENCH" "$folder/cbench" &&
  CBENCH_PLUGIN_PATH='' "$folder/cbench" versus -n >"$out" 2>&1 &&
  grep -qxF 'backend=boost_context  (n/a: configure --with-boost-context)' \
    "$out" && grep -qx 'backend=swapcontext' "$out" &&
  grep -q 'rte_ring.*(n/a: configure --with-dpdk)' "$out"
result $? "versus: a peer that is not there is n/a, with its option"
CBENCH_PLUGIN_PATH='' "$folder/cbench" versus -f backend=pcl \
  -f backend=swapcontext -T 30 -r 2 -F 2 \
  >"$out" 2>&1 && grep -q '^swapcontext  *ours  *[0-9]' "$out" &&
  grep -q '^pcl  *n/a: configure --with-pcl' "$out"
result $? "versus: the other rows run"
rm -rf "$folder"

name="versus: a ring of the user's own is in every table"
if ! lacks ck "$name" && ! lacks dpdk "$name"; then
  "$CBENCH" versus 'ring=ff,rte_ring{sync=st}' -n >"$out" 2>&1 &&
    [ "$(grep -cx 'ring=ff' "$out")" = 5 ] &&
    "$CBENCH" versus 'ring=ff,rte{sync=st}' -n >"$out" 2>&1
  result $? "$name"
fi

name="versus: an imitation has its original in every mode"
if ! lacks ck "$name" && ! lacks dpdk "$name"; then
  "$CBENCH" versus 'ring=rte{sync=mt/st},rte{sync=rts/hts},ck{sync=sp/mp}' \
    burst=1 -n >"$out" 2>&1 && says 'all there' "
    cbench.load 'dpdk'
    cbench.load 'ck'
    for kind, real in pairs { rte = 'rte_ring', ck = 'ck_ring' } do
      local rings = cbench.kinds 'ring'
      local ours, theirs = {}, {}
      for _, word in ipairs(rings[kind].parameters.sync.choices) do
        ours[word] = true
      end
      for _, word in ipairs(rings[real].parameters.sync.choices) do
        theirs[word] = true
      end
      for word in pairs(ours) do assert(theirs[word], real .. ' ' .. word) end
    end
    local to = {}
    for _, row in ipairs(cbench.scenario 'versus':rows
        { ring = { { 'rte', sync = 'mt/st' } }, burst = 1 }) do
      to[row.reference or 'none'] = true
    end
    assert(to['ring=rte_ring{sync=mt/st}/burst=1'])
    print 'all there'"
  result $? "$name"
fi

says "cannot find plug-in 'ckk'" "print(cbench.load 'ckk')"
result $? "a peer that is not there is named"
