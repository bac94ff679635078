#!/usr/bin/env bash
# vmalert refuses a file of rules because of a field that Prometheus knows.
#
# Guessed: vmalert takes Prometheus' rule files, and knows the group's query_offset or leaves it out.
# Happens: query_offset is an unknown field, and the whole file is refused. vmalert's own eval_delay does the same, and Prometheus refuses
#   that one. So no single file delays a group in both.
# Who meets it: who publishes rules for both, and delays them because metrics arrive late.
# Seen: 2026-11-27, vmalert 1.140.0 and promtool 3.16.0
#
# Output:
#   promtool, query_offset: 0
#   promtool, eval_delay: 1
#   vmalert, query_offset: unknown fields in group "late": query_offset
#   vmalert, eval_delay: 0
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

expect() { # expect WHAT SEEN WANTED
  echo "$1: $2"
  [[ $2 == "$3" ]] || { echo "it was: $3" >&2 && exit 1; }
}
code() { # code COMMAND …: its exit code
  local code=0
  "$@" >output 2>&1 || code=$?
  echo "$code"
}

export CGO_ENABLED=0 GOBIN=$work
go install -tags remove_all_sd github.com/prometheus/prometheus/cmd/promtool@v0.316.0
go install github.com/VictoriaMetrics/VictoriaMetrics/app/vmalert@v1.140.0

for field in query_offset eval_delay; do
  cat >"$field.yml" <<YAML
groups:
  - name: late
    $field: 1m
    rules: [{ record: job:up, expr: sum by (job) (up) }]
YAML
done
expect 'promtool, query_offset' "$(code ./promtool check rules query_offset.yml)" 0
expect 'promtool, eval_delay' "$(code ./promtool check rules eval_delay.yml)" 1
code ./vmalert -rule=query_offset.yml -dryRun >/dev/null
expect 'vmalert, query_offset' "$(grep -o 'unknown fields in group.*' output)" 'unknown fields in group "late": query_offset'
expect 'vmalert, eval_delay' "$(code ./vmalert -rule=eval_delay.yml -dryRun)" 0
