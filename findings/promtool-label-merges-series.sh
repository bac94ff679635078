#!/usr/bin/env bash
# promtool's --label for a backfill replaces a label of the file, and series that differed in it become one.
#
# Guessed: a file whose series have the label already is refused, or their own label is kept.
# Happens: every series gets the value of --label. Two series that differ in this label alone become one, which keeps one of the two
#   samples of each time. The exit code is 0, and nothing is said.
# Who meets it: who loads a history of several instances and adds the label instance, as documentation of backfills advises.
# Seen: 2026-11-27, promtool 3.16.0
#
# Output:
#   promtool, version 3.16.0
#   samples in the file: 4
#   exit code: 0
#   series: 1
#   samples: 2
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

cat >history.om <<'OM'
# TYPE requests counter
requests_total{instance="a"} 1 1700000000
requests_total{instance="a"} 2 1700000060
requests_total{instance="b"} 100 1700000000
requests_total{instance="b"} 200 1700000060
# EOF
OM
code=0
./promtool tsdb create-blocks-from openmetrics --label=instance=c history.om blocks >created || code=$?
read -r _ _ _ _ samples _ series _ <<<"$(tail -n 1 created)"
expect 'samples in the file' "$(grep -c ^requests history.om)" 4
expect 'exit code' "$code" 0
expect series "$series" 1
expect samples "$samples" 2
