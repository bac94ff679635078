#!/usr/bin/env bash
# Prometheus 3.16 gives a family without a unit the unit of the family above it.
#
# Guessed: with the feature type-and-unit-labels, a series has __unit__ only if its family has a line `# UNIT`.
# Happens: the type is forgotten where a new family begins, the unit is not. All families after `size_bytes` have bytes, up to the next
#   line `# UNIT`; an empty one, which OpenMetrics allows, ends it.
# Who meets it: who turns the feature on and reads a page on which only some families have units, as most do.
# Seen: 2026-11-27, Prometheus 3.16.0, scraping OpenMetrics 1.0
#
# Output:
#   prometheus, version 3.16.0
#   size_bytes: gauge bytes
#   door: gauge bytes
#   opened_total: counter bytes
#   room: gauge none
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

mkdir page
cat >page/metrics <<'OM'
# TYPE size_bytes gauge
# UNIT size_bytes bytes
size_bytes 4
# TYPE door gauge
door 1
# TYPE opened counter
opened_total 5
# TYPE room gauge
# UNIT room 
room 1
# EOF
OM
page=$(free_port)
python3 -m http.server --bind 127.0.0.1 --directory page "$page" >/dev/null 2>&1 &
pids+=($!)
cat >prometheus.yml <<YAML
scrape_configs:
  - job_name: page
    scrape_interval: 1s
    scrape_timeout: 1s
    fallback_scrape_protocol: OpenMetricsText1.0.0
    static_configs: [{ targets: ["127.0.0.1:$page"] }]
YAML
api=127.0.0.1:$(free_port)
./prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address="$api" \
  --enable-feature=type-and-unit-labels >log 2>&1 &
pids+=($!)

labels() { # labels NAME: type and unit of the series, once it is there
  for _ in {1..60}; do
    if curl --silent --get "$api/api/v1/series" --data-urlencode "match[]=$1" >answer && grep -q "\"$1\"" answer; then
      python3 -c 'import json; s = json.load(open("answer"))["data"][0]; print(s["__type__"], s.get("__unit__", "none"))'
      return
    fi
    sleep 1
  done
  cat log >&2 && return 1
}
expect size_bytes "$(labels size_bytes)" 'gauge bytes'
expect door "$(labels door)" 'gauge bytes'
expect opened_total "$(labels opened_total)" 'counter bytes'
expect room "$(labels room)" 'gauge none'
