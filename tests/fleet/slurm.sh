#!/bin/sh
# Slurm with two nodes on this machine: munge, slurmctld, two slurmd, all of
# them in a folder of their own.
. "$top_srcdir/tests/fleet/lib.sh"
needs slurm-wlm slurmctld slurmd srun sbatch
needs munge munged
[ "$(id -u)" = 0 ] || skip 'slurmd has to be started by root'

down() {
  for pid in "$work"/*.pid; do
    [ ! -s "$pid" ] || kill "$(cat "$pid")" 2>/dev/null
  done
  wait_until all_gone
  rm -rf "$work"
}

all_gone() {
  for pid in "$work"/*.pid; do
    [ ! -s "$pid" ] || ! kill -0 "$(cat "$pid")" 2>/dev/null || return 1
  done
}
trap down EXIT
chmod 755 "$work"

up() {
  mkdir "$work/state" "$work/munge" && chmod 700 "$work/munge" || return
  head -c 128 /dev/urandom >"$work/munge/key" && chmod 600 "$work/munge/key"
  munged --key-file="$work/munge/key" --socket="$work/munge.socket" --force \
    --pid-file="$work/munged.pid" --log-file="$work/munge/log" \
    --seed-file="$work/munge/seed" || return
  host=$(hostname -s)
  cat >"$work/slurm.conf" <<END
ClusterName=cbench
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/linear
ReturnToService=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
KillWait=30
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=1
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=1
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
END
  slurmctld && slurmd -N n1 && slurmd -N n2
}

both_idle() { [ "$(sinfo -h -o '%D %t' 2>/dev/null)" = '2 idle' ]; }

port=$((17000 + $$ % 10000))
SLURM_CONF=$work/slurm.conf
export SLURM_CONF
if ! up >"$work/log" 2>&1 || ! wait_until both_idle; then
  count=1
  echo 'not ok 1 - two nodes are up'
  sed 's/^/# /' "$work/log" "$work"/*.log 2>/dev/null | tail -n 40
  finish
  exit
fi
recipes slurm
wait_until both_idle
cd "$work" || exit 1

# The other ranks' results survive one that is killed.
srun -N2 -n2 cbench-killed 1 yield -q --format jsonl -o 'kill-%r.jsonl' \
  >log 2>&1
check 'srun says that a rank was killed' [ $? = 137 ]
cbench merge kill-*.jsonl -o kill.json >log 2>&1
check 'merge says which is missing' grep -q \
  '1 of 2 ranks of run slurm-.* is missing: rank 1' log
check 'the rows of the other are there' grep -q '^{"name".*"rank":0' kill.json

# Both ranks of one step are asked to stop; both keep what they have.
wait_until both_idle
srun -N2 -n2 cbench yield -T 300 --verbose --format jsonl -o 'stop-%r.jsonl' \
  >log 2>&1 &
step=$!
both_measure() { [ "$(grep -c rows log)" = 2 ]; }
check 'both ranks measure' wait_until both_measure
scancel "$(squeue -h -o %i)"
wait $step
cbench merge stop-*.jsonl -o stop.json >log 2>&1
check 'a cancelled step keeps the rows of both' [ "$(grep -o '"rank":[01]' \
  stop.json | sort -u | wc -l)" = 2 ]
check 'marked as partial' [ "$(grep -c '"status":"ok"' stop.json)" = 0 ]
finish
