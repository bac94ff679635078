#!/usr/bin/env bash
# Thanos' engine refuses predict_linear with a time that is computed.
#
# Guessed: an engine that is made to answer as Prometheus' does takes any scalar as the second argument.
# Happens: it takes literals and arithmetic on them, and refuses a scalar that comes from series. It has no other engine to fall back to.
# Who meets it: who evaluates rules that predict the end of a month or a quota, whose distance changes with time, in Thanos.
# Seen: 2026-11-27, thanos-io/promql-engine of 2026-05-13 with Prometheus 3.8.0, which it names
#
# Output:
#   predict_linear(x[5m], 60): Prometheus 660, Thanos 660
#   predict_linear(x[5m], scalar(y)): Prometheus 660, Thanos refuses: predict_linear with expression as second argument is not supported: unsupported expression
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

expect() { # expect WHAT SEEN WANTED
  echo "$1: $2"
  [[ $2 == "$3" ]] || { echo "it was: $3" >&2 && exit 1; }
}

cat >go.mod <<'MOD'
module engines

go 1.25

require (
	github.com/prometheus/prometheus v0.308.0
	github.com/thanos-io/promql-engine v0.0.0-20260513095632-c5f6038078e3
)
MOD
cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"
	"github.com/thanos-io/promql-engine/engine"
)

type test struct{}

func (test) Errorf(format string, a ...any) { fmt.Printf(format, a...) }
func (test) FailNow()                       { os.Exit(2) }

type querier interface {
	NewInstantQuery(context.Context, storage.Queryable, promql.QueryOpts, string, time.Time) (promql.Query, error)
}

func ask(engine querier, samples storage.Queryable, expression string) string {
	query, err := engine.NewInstantQuery(context.Background(), samples, nil, expression, time.Unix(600, 0))
	if err != nil {
		return "refuses: " + err.Error()
	}
	vector, err := query.Exec(context.Background()).Vector()
	if err != nil {
		return "fails: " + err.Error()
	}
	return fmt.Sprint(vector[0].F)
}

func main() {
	samples := promqltest.LoadedStorage(test{}, "load 1m\n  x 0+60x10\n  y 60x10\n")
	options := promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute}
	prometheus, thanos := promql.NewEngine(options), engine.New(engine.Opts{EngineOpts: options})
	fmt.Printf("Prometheus %s, Thanos %s\n", ask(prometheus, samples, os.Args[1]), ask(thanos, samples, os.Args[1]))
}
GO
GOFLAGS=-mod=mod go mod tidy 2>/dev/null
CGO_ENABLED=0 go build -o engines
literal='predict_linear(x[5m], 60)'
expect "$literal" "$(./engines "$literal")" 'Prometheus 660, Thanos 660'
computed='predict_linear(x[5m], scalar(y))'
refused='predict_linear with expression as second argument is not supported: unsupported expression'
expect "$computed" "$(./engines "$computed")" "Prometheus 660, Thanos refuses: $refused"
