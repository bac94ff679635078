#!/usr/bin/env bash
# The time of a job's last discovery moves on while its discovery fails.
#
# Guessed: prometheus_sd_last_update_timestamp_seconds{config="JOB"} is when the discovery of this job last brought something, so an
#   alert on its age finds a dead one.
# Happens: all jobs get the time of the last update of any. A job whose discovery has never answered has a new time whenever another one's
#   targets change. prometheus_sd_refresh_failures_total{config="JOB"} is of the job alone.
# Who meets it: who watches discovery by HTTP, files or DNS beside Kubernetes', whose targets change all the time.
# Seen: 2026-11-27, Prometheus 3.16.0
#
# Output:
#   prometheus, version 3.16.0
#   targets that the job has found: 0
#   its last update: moves
set -euo pipefail
work=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; wait; rm -rf "$work"' EXIT
cd "$work"

expect() { # expect WHAT SEEN WANTED
  echo "$1: $2"
  [[ $2 == "$3" ]] || { echo "it was: $3" >&2 && exit 1; }
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

CGO_ENABLED=0 GOBIN=$work go install -tags remove_all_sd \
  -ldflags='-X github.com/prometheus/common/version.Version=3.16.0' github.com/prometheus/prometheus/cmd/prometheus@v0.316.0
./prometheus --version | sed 's/ (.*//;q'

cat >prometheus.yml <<YAML
scrape_configs:
  - job_name: dead
    http_sd_configs: [{ url: "http://127.0.0.1:$(free_port)/targets", refresh_interval: 1s }]
  - job_name: alive
    file_sd_configs: [{ files: [targets.json], refresh_interval: 1s }]
YAML
api=127.0.0.1:$(free_port)
target() { # target NUMBER: what the other job finds from now on
  echo "[{ \"targets\": [\"127.0.0.1:$1\"] }]" >targets.part && mv targets.part targets.json
}
target 1
./prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address="$api" >log 2>&1 &
pids+=($!)

metric() { # metric NAME: its value for the dead job
  curl --silent --fail --retry 60 --retry-connrefused --retry-delay 1 "$api/metrics" | sed -n "s/^$1{config=\"dead\".*} //p"
}
until [[ -n $(metric prometheus_sd_last_update_timestamp_seconds) ]]; do sleep 1; done
before=$(metric prometheus_sd_last_update_timestamp_seconds)
for number in {2..5}; do
  sleep 6
  target "$number"
done
sleep 6
after=$(metric prometheus_sd_last_update_timestamp_seconds)
found=$(metric prometheus_sd_discovered_targets)
(($(metric prometheus_sd_refresh_failures_total) > 5)) || { cat log >&2 && exit 1; }
expect 'targets that the job has found' "$found" 0
expect 'its last update' "$([[ $after == "$before" ]] && echo stays || echo moves)" moves
