#!/usr/bin/env bash
# PromQL's `smoothed` has values where a series says that it is gone.
#
# Guessed: a staleness marker ends a smoothed series as it ends a plain one; in between there is nothing.
# Happens: `smoothed` does not see the marker. While the gap lasts it has the last value before it. Asked later, the same time has a
#   value on the line from the last sample before the gap to the first one after it: the past changes.
# Who meets it: who moves a dashboard or an alert from `x` to `x smoothed` (stable in 3.16), with targets that come and go.
# Seen: 2026-11-27, promtool 3.16.0
#
# Output:
#   promtool, version 3.16.0
#   gap at 4m: []
#   gap smoothed at 4m: [{__name__="gap"} 2.4E+02]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

expect() { # expect WHAT SEEN WANTED
  echo "$1: $2"
  [[ $2 == "$3" ]] || { echo "it was: $3" >&2 && exit 1; }
}

CGO_ENABLED=0 GOBIN=$work go install -tags remove_all_sd \
  -ldflags='-X github.com/prometheus/common/version.Version=3.16.0' github.com/prometheus/prometheus/cmd/promtool@v0.316.0
./promtool --version | sed 's/ (.*//;q'

# value EXPRESSION NOW: what promtool finds at 4m, in the gap, with the samples until NOW. It prints what it finds because the test
# expects a sample that there is not.
value() {
  cat >case.yml <<YAML
tests:
  - interval: 1m
    input_series:
      - series: gap
        values: 0 60 120 stale _ _ 360 420
    promql_expr_test:
      - expr: $1
        eval_time: 4m
        exp_samples: [{ labels: none, value: 0 }]
      - expr: vector(1)
        eval_time: $2
        exp_samples: [{ value: 1 }]
YAML
  ./promtool test rules case.yml 2>&1 | sed -n 's/^ *got: *//p'
}
expect 'gap at 4m' "$(value gap 4m)" nil
expect 'gap smoothed at 4m' "$(value 'gap smoothed' 4m)" '{__name__="gap"} 1.2E+02'
expect 'gap smoothed at 4m, asked at 7m' "$(value 'gap smoothed' 7m)" '{__name__="gap"} 2.4E+02'
