#!/usr/bin/env bash
# exporter_exporter answers 500 for a page in OpenMetrics that it asked for itself.
#
# Guessed: a proxy that passes on what the scraper accepts passes on what the exporter answers.
# Happens: `verify`, on by default, reads every page as Prometheus' text, whatever its Content-Type says. A family of type info, which only
#   OpenMetrics has, fails there, and the target is down at each scrape. A scraper that asks for text sees nothing of it.
# Who meets it: who puts an exporter with OpenMetrics behind it; Prometheus prefers OpenMetrics.
# Seen: 2026-11-27, prometheus-exporter-exporter 0.4.0-1+b14 of Debian 12
#
# Output:
#   verified: 500
#   log: unknown metric type \"info\"
#   not verified: 200
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

apt-get --quiet=2 -o APT::Sandbox::User=root download prometheus-exporter-exporter=0.4.0-1+b14
dpkg-deb --extract prometheus-exporter-exporter_*.deb .

cat >exporter.py <<'PYTHON'
import http.server, sys
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Type', 'application/openmetrics-text; version=1.0.0; charset=utf-8')
        self.end_headers()
        self.wfile.write(b'# TYPE room info\nroom_info{name="a"} 1\n# EOF\n')
    def log_message(self, *_): pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Page).serve_forever()
PYTHON
port=$(free_port)
python3 exporter.py "$port" &
pids+=($!)
cat >proxy.yml <<YAML
modules:
  verified: { method: http, http: { port: $port } }
  unverified: { method: http, http: { port: $port, verify: false } }
YAML
proxy=127.0.0.1:$(free_port)
./usr/bin/prometheus-exporter-exporter -config.file=proxy.yml -web.listen-address="$proxy" 2>log &
pids+=($!)

status() { # status MODULE: of the answer to a scraper that accepts OpenMetrics
  curl --silent --output page --write-out '%{http_code}' \
    --header 'Accept: application/openmetrics-text; version=1.0.0' "$proxy/proxy?module=$1"
}
for origin in "127.0.0.1:$port" "$proxy"; do
  curl --silent --retry 30 --retry-connrefused --retry-delay 1 --output page "$origin/"
done
expect verified "$(status verified)" 500
expect log "$(grep -o 'unknown metric type [^ ]*info\\"' log | head -n 1)" 'unknown metric type \"info\"'
expect 'not verified' "$(status unverified)" 200
