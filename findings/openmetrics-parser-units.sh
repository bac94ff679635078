#!/usr/bin/env bash
# Rust's openmetrics-parser refuses a histogram that has a unit.
#
# Guessed: a line `# UNIT` is taken for every type of which OpenMetrics does not forbid it: that is, all but info and stateset.
# Happens: it is refused for histograms, and with it the whole page. A gauge with the same unit is taken.
# Who meets it: who tests a page with it, or reads exporters with it.
# Seen: 2026-11-27, openmetrics-parser 0.5.1
#
# Output:
#   gauge, unit: 1 families
#   histogram, no unit: 1 families
#   histogram, unit: Some(Histogram) metrics can't have units
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
openmetrics-parser = "=0.5.1"
TOML
cat >src/main.rs <<'RUST'
fn main() {
    let page = std::io::read_to_string(std::io::stdin()).unwrap();
    match openmetrics_parser::openmetrics::parse_openmetrics(&page) {
        Ok(read) => println!("{} families", read.families.len()),
        Err(error) => println!("{error}"),
    }
}
RUST
cargo build --quiet
unit='# UNIT d_seconds seconds'
rows=('d_seconds_bucket{le="1.0"} 1' 'd_seconds_bucket{le="+Inf"} 2' 'd_seconds_sum 3.0' 'd_seconds_count 2')
reads() { printf '%s\n' "$@" '# EOF' | target/debug/reads; }
expect 'gauge, unit' "$(reads '# TYPE d_seconds gauge' "$unit" 'd_seconds 3.0')" '1 families'
expect 'histogram, no unit' "$(reads '# TYPE d_seconds histogram' "${rows[@]}")" '1 families'
expect 'histogram, unit' "$(reads '# TYPE d_seconds histogram' "$unit" "${rows[@]}")" "Some(Histogram) metrics can't have units"
