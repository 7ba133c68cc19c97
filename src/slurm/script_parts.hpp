#pragma once

// The parts of a job's script that are the same for every job. POSIX shell.

namespace autopack::slurm {

inline constexpr auto* script_begin = R"sh(
# Written by autopack. The variables of the programs are in the file `environment` beside this one.
umask 077
autopack_directory=$PWD
autopack_job=$SLURM_JOB_ID
autopack_srun=$(command -v srun)
autopack_apptainer=$(command -v apptainer || command -v singularity)
mkdir -p logs exits
rm -f end exits/*
date +%s > started

# Puts $1 between the lines.
joined_hosts() {
  sed -e "s/\$/$1/" | tr -d '\n' | sed -e 's/","$//'
}

. ./environment

# STATE STATUS REPLICA: how the job ended, for whoever asks when Slurm has forgotten it.
record_end() {
  printf '%s %s %s %s\n' "$1" "$2" "$3" "$(date +%s)" > end.new && mv -f end.new end
}

# Slurm itself ends the programs at the time limit and after scancel.
ended_by_slurm() {
  trap '' TERM
  case $(scontrol show job --oneliner "$autopack_job" 2>/dev/null) in
    *' JobState=TIMEOUT '* | *' Reason=TimeLimit '*) record_end TIMEOUT 143 - ;;
    *' JobState=PREEMPTED '*) record_end PREEMPTED 143 - ;;
    *) record_end CANCELLED 143 - ;;
  esac
  wait
  exit 143
}
trap ended_by_slurm TERM
)sh";

inline constexpr auto* script_start = R"sh(
# POOL INDEX RANK HOST
start() {
  (
    trap - TERM
    autopack_index=$2 autopack_rank=$3 autopack_host=$4
    ( "variables_$1"; "program_$1" ) > "logs/workerpool$1-$2.log" 2>&1
    echo $? > "exits/workerpool$1-$2.new"
    mv "exits/workerpool$1-$2.new" "exits/workerpool$1-$2"
  ) &
}

# POOL HOSTS RANK_OF_THE_FIRST
start_pool() {
  autopack_next=0
  for autopack_each in $2; do
    start "$1" "$autopack_next" "$(($3 + autopack_next))" "$autopack_each"
    autopack_next=$((autopack_next + 1))
  done
}

)sh";

inline constexpr auto* script_end = R"sh(
# As on Vertex AI, the job succeeds with its first replica and fails with any.
while :; do
  for autopack_exit in exits/workerpool*; do
    case $autopack_exit in *'*' | *.new) continue ;; esac
    autopack_status=$(cat "$autopack_exit")
    autopack_replica=${autopack_exit#exits/}
    if [ "$autopack_status" -gt 128 ]; then
      sleep 3 &  # Slurm may be ending everything: then it ends this script, too
      wait $!
    fi
    if [ "$autopack_status" != 0 ]; then
      record_end FAILED "$autopack_status" "$autopack_replica"
      exit "$autopack_status"
    fi
    if [ "$autopack_replica" = "$autopack_primary" ]; then
      record_end COMPLETED 0 -
      exit 0
    fi
  done
  sleep 1 &
  wait $!
done
)sh";

}  // namespace autopack::slurm
