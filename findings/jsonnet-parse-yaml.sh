#!/usr/bin/env bash
# Three implementations of Jsonnet read three different things from one YAML.
#
# Guessed: std.parseYaml gives the same in the C++, the Go and the Rust implementation.
# Happens: the C++ one takes as text what is not a plain number: `~` is "~" and `0o17` is "0o17". In Go's, of the same version, `~` is
#   null, `0o17` is 15, `on` is true, and the key `n` becomes the key "false". In Rust's, `on` and `n` stay what they are. A file that
#   begins with `---` is an array of one document in the first two, and the document itself in the third.
# Who meets it: who publishes a mixin that imports its rules or settings as YAML, and does not choose who builds it.
# Seen: 2026-11-27, jsonnet 0.22.0 (C++), gojsonnet 0.22.0 (Go), rjsonnet 0.5.6 (Rust's jrsonnet), all from PyPI
#
# Output:
#   C++: {"a":"~","b":"on","c":"0o17","d":5,"n":1} and [{"a":1}]
#   Go: {"a":null,"b":true,"c":15,"d":5,"false":1} and [{"a":1}]
#   Rust: {"a":null,"b":"on","c":15,"d":5,"n":1} and {"a":1}
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

expect() { # expect WHAT SEEN WANTED
  echo "$1: $2"
  [[ $2 == "$3" ]] || { echo "it was: $3" >&2 && exit 1; }
}
# evaluate PACKAGE VERSION MODULE: both documents, read in an environment of its own
evaluate() {
  python3 -m venv "$1"
  "$1/bin/pip" --quiet --disable-pip-version-check install "$1==$2"
  "$1/bin/python" - "$3" <<'PYTHON'
import importlib, json, sys
jsonnet = importlib.import_module(sys.argv[1])
def read(yaml):
    found = json.loads(jsonnet.evaluate_snippet('file', f'std.parseYaml({json.dumps(yaml)})'))
    return json.dumps(found, separators=(',', ':'), sort_keys=True)
print(read('a: ~\nb: on\nc: 0o17\nd: 5\nn: 1\n'), 'and', read('---\na: 1\n'))
PYTHON
}

expect C++ "$(evaluate jsonnet 0.22.0 _jsonnet)" '{"a":"~","b":"on","c":"0o17","d":5,"n":1} and [{"a":1}]'
expect Go "$(evaluate gojsonnet 0.22.0 _gojsonnet)" '{"a":null,"b":true,"c":15,"d":5,"false":1} and [{"a":1}]'
expect Rust "$(evaluate rjsonnet 0.5.6 rjsonnet)" '{"a":null,"b":"on","c":15,"d":5,"n":1} and {"a":1}'
