#!/usr/bin/env bash
# Starts Flink with Beam's job server from jars of Maven Central, runs a command with its
# endpoint in FLINK, and stops it again. Needs Java 17 and Maven.
#   run.sh [cluster] COMMAND…
# Without cluster Flink is one process, with it a job manager and two task managers of one
# slot each, whose process numbers are in $LOSSEP_FLINK/taskmanager-1.pid and -2.pid. One
# that dies is started again, as whoever runs a cluster does.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
home=${LOSSEP_FLINK:-$here/target}
lib=$home/lib
mkdir -p "$home"
[ -n "$(ls "$lib" 2>/dev/null)" ] || mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$lib"
[ "$home/classes" -nt "$here/ClasspathScanningResourcesDetector.java" ] || rm -rf "$home/classes"
[ -d "$home/classes" ] || javac -proc:none -cp "$lib/*" -d "$home/classes" "$here/ClasspathScanningResourcesDetector.java"
opens="--add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.util=ALL-UNNAMED --add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/sun.nio.ch=ALL-UNNAMED"
log="-Dorg.slf4j.simpleLogger.defaultLogLevel=${FLINK_LOG:-error} -Dorg.slf4j.simpleLogger.showDateTime=true"
job=${FLINK_PORT:-8399}
started=()
stop() { for p in "${started[@]}" $(cat "$home"/taskmanager-*.pid 2>/dev/null); do kill "$p" 2>/dev/null || true; done; rm -f "$home"/*.pid; }
trap stop EXIT
start() { # name, main class and arguments
  local name=$1
  shift
  # shellcheck disable=SC2086
  java -Xmx1g $opens $log -cp "$home/classes:$lib/*" "$@" >"$home/$name.log" 2>&1 &
  started+=($!)
  echo $! >"$home/$name.pid"
}
again() { # the same, for ever
  while :; do
    ("$@") &
    wait $! || true
    sleep 1
  done
}
taskmanager() {
  local name=$1
  shift
  echo "$BASHPID" >"$home/$name.pid"
  # shellcheck disable=SC2086
  exec java -Xmx1g $opens $log -cp "$lib/*" "$@" >"$home/$name.log" 2>&1
}
master='[local]'
if [ "${1:-}" = cluster ]; then
  shift
  rest=${FLINK_REST:-8381}
  master=127.0.0.1:$rest
  conf=$home/conf
  mkdir -p "$conf"
  cat >"$conf/flink-conf.yaml" <<EOF
jobmanager.rpc.address: 127.0.0.1
jobmanager.rpc.port: 6123
jobmanager.bind-host: 127.0.0.1
taskmanager.bind-host: 127.0.0.1
taskmanager.host: 127.0.0.1
rest.address: 127.0.0.1
rest.bind-address: 127.0.0.1
rest.port: $rest
jobmanager.memory.process.size: 1024m
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.attempts: 10
restart-strategy.fixed-delay.delay: 1 s
heartbeat.timeout: 60000
heartbeat.interval: 2000
taskmanager.numberOfTaskSlots: 1
classloader.resolve-order: parent-first
EOF
  start jobmanager org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint --configDir "$conf"
  for k in 1 2; do
    again taskmanager "taskmanager-$k" org.apache.flink.runtime.taskexecutor.TaskManagerRunner --configDir "$conf" \
      -D taskmanager.cpu.cores=1.0 -D taskmanager.memory.task.heap.size=256m -D taskmanager.memory.managed.size=64m \
      -D taskmanager.memory.network.min=64m -D taskmanager.memory.network.max=64m -D taskmanager.memory.framework.heap.size=128m \
      -D taskmanager.memory.framework.off-heap.size=128m -D taskmanager.memory.task.off-heap.size=64m \
      -D taskmanager.memory.jvm-metaspace.size=256m -D taskmanager.memory.jvm-overhead.min=64m -D taskmanager.memory.jvm-overhead.max=64m &
    started+=($!)
  done
fi
start jobserver org.apache.beam.runners.flink.FlinkJobServerDriver --job-host=127.0.0.1 --job-port="$job" \
  --artifact-port="$((job - 1))" --expansion-port="$((job - 2))" --flink-master="$master"
for _ in $(seq 600); do
  (exec 3<>"/dev/tcp/127.0.0.1/$job") 2>/dev/null && break
  kill -0 "${started[-1]}" 2>/dev/null || { cat "$home/jobserver.log"; exit 1; }
  sleep 0.2
done
FLINK=127.0.0.1:$job LOSSEP_FLINK=$home "$@"
