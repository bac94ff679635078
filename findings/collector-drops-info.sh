#!/usr/bin/env bash
# The OpenTelemetry Collector takes _info from the names of families of type info.
#
# Guessed: what the Prometheus receiver reads, the remote write exporter writes under the same name: its translation_strategy
#   UnderscoreEscapingWithoutSuffixes adds nothing to names.
# Happens: `room_info` of an OpenMetrics page arrives as `room`. The same page in the text format, where the type is gauge, keeps its name.
#   The receiver prefers OpenMetrics, so this is what an exporter with both formats gets. Counters keep their _total.
# Who meets it: who sends such an exporter's metrics through a Collector: joins on `…_info` find nothing.
# Seen: 2026-11-27, Collector 0.165.0
#
# Output:
#   openmetrics: opened_total room
#   text: opened_total room_info
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

# A Collector of one receiver and one exporter, and a Prometheus to write to.
mkdir collector
cat >collector/go.mod <<'MOD'
module collector

go 1.26

require (
	github.com/open-telemetry/opentelemetry-collector-contrib/exporter/prometheusremotewriteexporter v0.165.0
	github.com/open-telemetry/opentelemetry-collector-contrib/receiver/prometheusreceiver v0.165.0
	go.opentelemetry.io/collector/otelcol v0.165.0
)
MOD
cat >collector/main.go <<'GO'
package main

import (
	"log"

	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/prometheusremotewriteexporter"
	"github.com/open-telemetry/opentelemetry-collector-contrib/receiver/prometheusreceiver"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

func factories() (all otelcol.Factories, err error) {
	all.Telemetry = otelconftelemetry.NewFactory()
	if all.Receivers, err = otelcol.MakeFactoryMap[receiver.Factory](prometheusreceiver.NewFactory()); err == nil {
		all.Exporters, err = otelcol.MakeFactoryMap[exporter.Factory](prometheusremotewriteexporter.NewFactory())
	}
	return all, err
}

func main() {
	files := confmap.ResolverSettings{
		ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()},
		DefaultScheme:     "file",
	}
	err := otelcol.NewCommand(otelcol.CollectorSettings{
		BuildInfo:              component.BuildInfo{Command: "collector", Version: "0.165.0"},
		Factories:              factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: files},
	}).Execute()
	if err != nil {
		log.Fatal(err)
	}
}
GO
export CGO_ENABLED=0
(cd collector && GOFLAGS=-mod=mod go mod tidy 2>/dev/null && go build -tags remove_all_sd -ldflags='-s -w' -o ../otelcol)
GOBIN=$work go install -tags remove_all_sd github.com/prometheus/prometheus/cmd/prometheus@v0.316.0

mkdir openmetrics text
printf '# TYPE room info\nroom_info{name="a"} 1\n# TYPE opened counter\nopened_total 5\n# EOF\n' >openmetrics/metrics
printf '# TYPE room_info gauge\nroom_info{name="a"} 1\n# TYPE opened_total counter\nopened_total 5\n' >text/metrics
echo 'global: {}' >prometheus.yml
api=127.0.0.1:$(free_port)
./prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address="$api" \
  --web.enable-remote-write-receiver >prometheus.log 2>&1 &
pids+=($!)
curl --silent --output /dev/null --retry 60 --retry-connrefused --retry-delay 1 "$api/-/ready"

names() { # names FORMAT PROTOCOL: what arrives in Prometheus
  local port
  port=$(free_port)
  python3 -m http.server --bind 127.0.0.1 --directory "$1" "$port" >/dev/null 2>&1 &
  pids+=($!)
  cat >"$1.yaml" <<YAML
receivers:
  prometheus:
    config:
      scrape_configs:
        - job_name: $1
          scrape_interval: 1s
          fallback_scrape_protocol: $2
          static_configs: [{ targets: ["127.0.0.1:$port"] }]
exporters:
  prometheus_remote_write:
    endpoint: http://$api/api/v1/write
    translation_strategy: UnderscoreEscapingWithoutSuffixes
service:
  pipelines: { metrics: { receivers: [prometheus], exporters: [prometheus_remote_write] } }
  telemetry: { metrics: { level: none } }
YAML
  ./otelcol --config "$1.yaml" >"$1.log" 2>&1 &
  pids+=($!)
  for _ in {1..60}; do
    found=$(curl --silent --globoff "$api/api/v1/label/__name__/values?match[]={job=\"$1\",__name__=~\"room.*|opened.*\"}" |
      python3 -c 'import json, sys; print(*json.load(sys.stdin)["data"])') || found=
    [[ -z $found ]] || break
    sleep 1
  done
}
names openmetrics OpenMetricsText1.0.0
expect openmetrics "$found" 'opened_total room'
names text PrometheusText0.0.4
expect text "$found" 'opened_total room_info'
