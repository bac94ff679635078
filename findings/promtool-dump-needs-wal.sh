#!/usr/bin/env bash
# promtool cannot dump the blocks that promtool has just made.
#
# Guessed: `tsdb dump` and `tsdb dump-openmetrics` read a folder of blocks, as `tsdb list` and `tsdb analyze` do.
# Happens: both want a write-ahead log beside the blocks, and end with 1 without one. An empty folder is enough of a log.
# Who meets it: who looks at a backfill before copying it into Prometheus.
# Seen: 2026-11-27, promtool 3.16.0
#
# Output:
#   promtool, version 3.16.0
#   list: 0
#   analyze: 0
#   dump: 1
#   dump-openmetrics: 1
#   dump says: read WAL: find last checkpoint: open blocks/wal: no such file or directory
#   dump, after mkdir: {__name__="requests_total"} 1 1700000000000
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
  "$@" >output 2>errors || code=$?
  echo "$code"
}

CGO_ENABLED=0 GOBIN=$work go install -tags remove_all_sd \
  -ldflags='-X github.com/prometheus/common/version.Version=3.16.0' github.com/prometheus/prometheus/cmd/promtool@v0.316.0
./promtool --version | sed 's/ (.*//;q'

printf '# TYPE requests counter\nrequests_total 1 1700000000\n# EOF\n' >history.om
./promtool tsdb create-blocks-from openmetrics history.om blocks >/dev/null
expect list "$(code ./promtool tsdb list blocks)" 0
expect analyze "$(code ./promtool tsdb analyze blocks)" 0
expect dump "$(code ./promtool tsdb dump blocks)" 1
expect dump-openmetrics "$(code ./promtool tsdb dump-openmetrics blocks)" 1
expect 'dump says' "$(cat errors)" 'read WAL: find last checkpoint: open blocks/wal: no such file or directory'
mkdir blocks/wal
expect 'dump, after mkdir' "$(./promtool tsdb dump blocks)" '{__name__="requests_total"} 1 1700000000000'
