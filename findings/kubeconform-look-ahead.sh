#!/usr/bin/env bash
# kubeconform takes a schema whose pattern looks ahead for a missing one, and can then pass what is wrong.
#
# Guessed: it refuses the schema and names the pattern: Go's regular expressions, which it uses, have no look-ahead, while those of JSON
#   Schema (ECMA-262's) do.
# Happens: it says that it could not find a schema. With -ignore-missing-schemas, the usual flag where some kinds have none, the file is
#   skipped and the exit code is 0, although its value matches neither form of the pattern.
# Who meets it: who validates in a pipeline against a schema that was tried in an editor or in JavaScript.
# Seen: 2026-11-27, kubeconform 0.8.0
#
# Output:
#   plain: wrong.yaml - Cache a is invalid (1)
#   look-ahead: wrong.yaml - Cache a failed validation: could not find schema for Cache (1)
#   look-ahead, -ignore-missing-schemas: wrong.yaml - a Cache skipped (0)
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

expect() { # expect WHAT SEEN WANTED
  echo "$1: $2"
  [[ $2 == "$3" ]] || { echo "it was: $3" >&2 && exit 1; }
}

CGO_ENABLED=0 GOBIN=$work go install github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0
schema() { # schema PATTERN
  echo "{ \"type\": \"object\", \"properties\": { \"interval\": { \"type\": \"string\", \"pattern\": \"$1\" } } }"
}
schema '^\\d+[smh]$' >plain.json
schema '^(?=\\d)\\d+[smh]$' >look-ahead.json
printf 'apiVersion: example.test/v1\nkind: Cache\nmetadata: { name: a }\ninterval: 5x\n' >wrong.yaml
says() { # says ARGUMENT …: the line about the file without its details, and the exit code
  local code=0
  ./kubeconform -verbose "$@" wrong.yaml >output || code=$?
  echo "$(sed 's/ is invalid: .*/ is invalid/' output) ($code)"
}
expect plain "$(says -schema-location plain.json)" 'wrong.yaml - Cache a is invalid (1)'
expect look-ahead "$(says -schema-location look-ahead.json)" \
  'wrong.yaml - Cache a failed validation: could not find schema for Cache (1)'
expect 'look-ahead, -ignore-missing-schemas' "$(says -schema-location look-ahead.json -ignore-missing-schemas)" \
  'wrong.yaml - a Cache skipped (0)'
