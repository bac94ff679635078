#!/usr/bin/env bash
# Rust's prometheus-parse cuts a label's value at a comma.
#
# Guessed: whatever is between the quotes is the value.
# Happens: labels are split at commas, inside quotes as well: "Frankfurt, DE" is read as "Frankfurt". There is no error, and two series
#   that differ after the comma alone look like one.
# Who meets it: who reads labels with names that people wrote: places, titles, addresses.
# Seen: 2026-11-27, prometheus-parse 0.2.5
#
# Output:
#   samples: 2
#   values of pop: Frankfurt Frankfurt
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

expect() { # expect WHAT SEEN WANTED
  echo "$1: $2"
  [[ $2 == "$3" ]] || { echo "it was: $3" >&2 && exit 1; }
}

mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "reads"
version = "0.0.0"
edition = "2021"

[dependencies]
prometheus-parse = "=0.2.5"
TOML
cat >src/main.rs <<'RUST'
fn main() {
    let read = prometheus_parse::Scrape::parse(std::io::stdin().lines()).unwrap();
    for sample in read.samples {
        println!("{}", sample.labels.get("pop").unwrap());
    }
}
RUST
cargo build --quiet
pops=$(printf '# TYPE bytes gauge\nbytes{pop="Frankfurt, DE"} 1\nbytes{pop="Frankfurt, KY"} 2\n' | target/debug/reads)
expect samples "$(wc -l <<<"$pops")" 2
expect 'values of pop' "$(paste -sd' ' <<<"$pops")" 'Frankfurt Frankfurt'
