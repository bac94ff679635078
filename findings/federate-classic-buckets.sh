#!/usr/bin/env bash
# Federation turns histograms with custom buckets back into classic ones.
#
# Guessed: /federate leaves native histograms out of its text, which cannot write them.
# Happens: a histogram that convert_classic_histograms_to_nhcb turned into one native series leaves /federate as _bucket, _sum and _count
#   again. None of these three names is known to the Prometheus that serves them.
# Who meets it: who converts histograms and has a second Prometheus that federates the first: queries that work in one find nothing in the
#   other, in both directions.
# Seen: 2026-11-27, Prometheus 3.16.0
#
# Output:
#   prometheus, version 3.16.0
#   names in Prometheus: size_bytes
#   names in /federate: size_bytes_bucket size_bytes_count size_bytes_sum
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
cat >page/metrics <<'TEXT'
# TYPE size_bytes histogram
size_bytes_bucket{le="10"} 1
size_bytes_bucket{le="+Inf"} 3
size_bytes_sum 70
size_bytes_count 3
TEXT
page=$(free_port)
python3 -m http.server --bind 127.0.0.1 --directory page "$page" >/dev/null 2>&1 &
pids+=($!)
cat >prometheus.yml <<YAML
scrape_configs:
  - job_name: page
    scrape_interval: 1s
    scrape_timeout: 1s
    fallback_scrape_protocol: PrometheusText0.0.4
    convert_classic_histograms_to_nhcb: true
    static_configs: [{ targets: ["127.0.0.1:$page"] }]
YAML
api=127.0.0.1:$(free_port)
./prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address="$api" >log 2>&1 &
pids+=($!)
for _ in {1..60}; do
  curl --silent --globoff "$api/federate?match[]={__name__=~\"size_.*\"}" >federated && [[ -s federated ]] && break
  sleep 1
done
names=$(curl --silent --globoff "$api/api/v1/label/__name__/values?match[]={__name__=~\"size_.*\"}" |
  python3 -c 'import json, sys; print(*json.load(sys.stdin)["data"])')
expect 'names in Prometheus' "$names" size_bytes
names=$(grep -o '^size_[a-z_]*' federated | sort -u | paste -sd' ')
expect 'names in /federate' "$names" 'size_bytes_bucket size_bytes_count size_bytes_sum'
