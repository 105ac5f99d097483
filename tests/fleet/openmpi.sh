#!/bin/sh
# Open MPI with two ranks on this machine.
. "$top_srcdir/tests/fleet/lib.sh"
needs openmpi-bin mpirun
trap 'rm -rf "$work"' EXIT
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
recipes openmpi
cd "$work" || exit 1

# mpirun ends the job when a rank is killed: the other is told by SIGTERM and
# keeps what it has.
mpirun -np 2 --oversubscribe cbench-killed 1 yield -q --format jsonl \
  -o 'kill-%r.jsonl' >log 2>&1
check 'mpirun says that a rank was killed' [ $? != 0 ]
cbench merge kill-*.jsonl -o kill.json >log 2>&1
check 'merge says which is missing' grep -q \
  '1 of 2 ranks of run mpi-.* is missing: rank 1' log
check 'the rows of the other are there' grep -q '^{"name".*"rank":0' kill.json
finish
