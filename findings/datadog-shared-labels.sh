#!/usr/bin/env bash
# Datadog's OpenMetrics check never shares a name that it did not find in its first run.
#
# Guessed: share_labels, which copies labels of one family to the others, reads that family at every run: a new target gets its name.
# Happens: by default (cache_shared_labels) the labels are taken from the first run and kept. A target that comes later never gets its
#   name, and one that was renamed keeps the old one. `cache_shared_labels: false` mends it.
# Who meets it: who reads an exporter whose targets change while the Agent runs.
# Seen: 2026-11-27, datadog-checks-base 38.7.0
#
# Output:
#   with the cache, first run: room_up{room:1,name:hall}
#   with the cache, second run: room_up{room:1,name:hall} room_up{room:2}
#   without it, second run: room_up{room:1,name:lobby} room_up{room:2,name:attic}
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

expect() { # expect WHAT SEEN WANTED
  echo "$1: $2"
  [[ $2 == "$3" ]] || { echo "it was: $3" >&2 && exit 1; }
}

python3 -m venv python
# What it needs for this check, as its own extra `deps` pins it, and what those need.
python/bin/pip --quiet --disable-pip-version-check install --no-deps datadog-checks-base==38.7.0 annotated-types==0.8.0 binary==1.0.2 \
  bytecode==0.19.1 cachetools==7.2.0 certifi==2026.10.18 cffi==2.1.1 charset-normalizer==3.5.3 cryptography==50.0.1 ddtrace==4.13.2 \
  envier==0.6.1 idna==3.20 jellyfish==1.2.1 lazy-loader==0.5 opentelemetry-api==1.45.2 packaging==26.4 prometheus-client==0.26.0 \
  pydantic==2.13.5 pydantic-core==2.46.5 python-dateutil==2.9.0.post0 PyYAML==6.0.3 requests==2.34.2 requests-toolbelt==1.0.0 \
  requests-unixsocket2==1.0.1 simplejson==4.1.2 six==1.17.0 typing-extensions==4.16.0 typing-inspection==0.4.5 urllib3==2.8.0 wrapt==2.3.0
cat >check.py <<'PYTHON'
import http.server, sys, threading
from datadog_checks.base import OpenMetricsBaseCheckV2
from datadog_checks.base.stubs import aggregator

def page(names):
    infos = [f'room_info{{room="{room}",name="{name}"}} 1' for room, name in names.items()]
    ups = [f'room_up{{room="{room}"}} 1' for room in names]
    return '\n'.join(['# TYPE room_info gauge', *infos, '# TYPE room_up gauge', *ups, ''])
pages = iter([page({1: 'hall'}), page({1: 'lobby', 2: 'attic'})])
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Type', 'text/plain; version=0.0.4')
        self.end_headers()
        self.wfile.write(next(pages).encode())
    def log_message(self, *_): pass
server = http.server.HTTPServer(('127.0.0.1', 0), Page)
threading.Thread(target=server.serve_forever, daemon=True).start()
check = OpenMetricsBaseCheckV2('rooms', {}, [{
    'openmetrics_endpoint': f'http://127.0.0.1:{server.server_port}/', 'namespace': 'x', 'metrics': ['room_up'],
    'tag_by_endpoint': False, 'share_labels': {'room_info': {'match': ['room'], 'labels': ['name']}},
    'cache_shared_labels': sys.argv[1] == 'true',
}])
for _ in range(2):
    aggregator.reset()
    assert check.run() == '', check.run()
    print(*[f"room_up{{{','.join(each.tags)}}}" for each in aggregator.metrics('x.room_up')])
PYTHON
run() { # run CACHE NUMBER: what the run of this number sends
  python/bin/python check.py "$1" | sed -n "$2p"
}
expect 'with the cache, first run' "$(run true 1)" 'room_up{room:1,name:hall}'
expect 'with the cache, second run' "$(run true 2)" 'room_up{room:1,name:hall} room_up{room:2}'
expect 'without it, second run' "$(run false 2)" 'room_up{room:1,name:lobby} room_up{room:2,name:attic}'
