#!/bin/sh
# The rings' memory orders as aarch64 sees them: x86 gives most of them for
# nothing, so only another processor's code shows that they are written down.
# Each operation must have so many load-acquires, store-releases and exclusive
# pairs (a second copy by the compiler does no harm), none that it has no use
# for, and no barrier.
cross=${AARCH64_CC:-aarch64-linux-gnu-gcc}
objdump=${AARCH64_OBJDUMP:-aarch64-linux-gnu-objdump}

# kind, operation, what it must have
expected='
spsc     spsc_op_enqueue              ldar stlr
spsc     spsc_op_dequeue              ldar stlr
spsc     spsc_op_enqueue_burst        ldar stlr
spsc     spsc_op_dequeue_burst        ldar stlr
ff       ff_op_enqueue                ldar stlr
ff       ff_op_dequeue                ldar stlr
vyukov   vyukov_bulk_op_enqueue       ldar ldxr stxr stlr
vyukov   vyukov_bulk_op_dequeue       ldar ldxr stxr stlr
vyukov   vyukov_ready_row             ldar
vyukov   vyukov_bulk_op_enqueue_bulk  ldxr stxr stlr
vyukov   vyukov_bulk_op_dequeue_bulk  ldxr stxr stlr
ptr_ring ptr_ring_op_enqueue          ldaxr stxr ldar stlr stlr
ptr_ring ptr_ring_op_dequeue          ldaxr stxr ldar stlr stlr
alf      alf_spsc_op_enqueue          ldar stlr
alf      alf_spsc_op_dequeue          ldar stlr
alf      alf_mpmc_op_enqueue          ldar ldar ldaxr stlxr ldar stlr
alf      alf_mpmc_op_dequeue          ldar ldar ldaxr stlxr ldar stlr
rte      rte_st_op_enqueue            ldar stlr
rte      rte_st_op_dequeue            ldar stlr
rte      rte_mt_op_enqueue            ldar ldar ldaxr stlxr ldar stlr
rte      rte_mt_op_dequeue            ldar ldar ldaxr stlxr ldar stlr
rte      rte_rts_op_enqueue           ldar ldar ldar ldar ldaxr stlxr ldaxr stlxr
rte      rte_rts_op_dequeue           ldar ldar ldar ldar ldaxr stlxr ldaxr stlxr
rte      rte_hts_op_enqueue           ldar ldar ldaxr stlxr stlr
rte      rte_hts_op_dequeue           ldar ldar ldaxr stlxr stlr
ck       ck_spsc_op_enqueue           ldar stlr
ck       ck_spsc_op_dequeue           ldar stlr
ck       ck_mpmc_op_enqueue           ldar ldar ldaxr stlxr ldar stlr
ck       ck_mpmc_op_dequeue           ldar ldar ldaxr stlxr
spinlock spinlock_op_enqueue          ldaxr stxr stlr
'
lines() {
  printf '%s\n' "$expected" | sed '/^$/d'
}
echo "1..$(lines | wc -l)"
if ! command -v "$cross" >/dev/null || ! command -v "$objdump" >/dev/null; then
  lines | awk '{ print "ok " NR " - " $2 " # SKIP no aarch64 compiler" }'
  exit 0
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
for kind in $(lines | awk '{ print $1 }' | uniq); do
  "$cross" -std=c11 -O2 -mno-outline-atomics -D_GNU_SOURCE \
    -I"$top_srcdir/src" -c "$top_srcdir/src/ring/kind_$kind.c" \
    -o "$work/$kind.o" || exit 1
  "$objdump" -d --no-show-raw-insn "$work/$kind.o" >"$work/$kind.s"
done

# The instructions of one function that order memory, one a line.
ordering() { # KIND FUNCTION
  awk -v name="<$2>:" '$2 == name { inside = 1; next }
    /^$/ { inside = 0 }
    inside && $2 ~ /^(ldap?r|lda?xr|stlr|stl?xr|d[ms]b|swp.*|cas.*)$/ \
      { print $2 }' "$work/$1.s"
}

number=0
lines | while read -r kind function wanted; do
  number=$((number + 1))
  ordering "$kind" "$function" >"$work/found"
  trouble=
  for word in $(printf '%s\n' $wanted | sort -u); do
    want=$(printf '%s\n' $wanted | grep -cx "$word")
    have=$(grep -cx "$word" "$work/found")
    [ "$have" -ge "$want" ] || trouble="$trouble $word: $have of $want"
  done
  for word in $(sort -u "$work/found"); do
    printf '%s\n' $wanted | grep -qx "$word" || trouble="$trouble $word"
  done
  if [ -z "$trouble" ]; then
    echo "ok $number - $function"
  else
    echo "not ok $number - $function:$trouble"
  fi
done
