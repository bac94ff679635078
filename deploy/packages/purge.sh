#!/bin/sh
# After the removal of the deb. Only a purge deletes anything: the counters. Keys and settings were written by hand, so they stay, and
# are named.
set -eu
[ "$1" = purge ] || exit 0

# Of a service with a user of its own, systemd keeps them in private, and a link to them.
rm -rf /var/lib/bunnynet-exporter /var/lib/bunnynet-exporter@* \
  /var/lib/private/bunnynet-exporter /var/lib/private/bunnynet-exporter@*

left=$(find /etc/bunnynet-exporter /etc/systemd/system/bunnynet-exporter.service.d \
  /etc/systemd/system/bunnynet-exporter@*.service.d ! -type d 2>/dev/null || true)
[ -n "$left" ] || exit 0
echo 'bunnynet-exporter: these files stay. A key among them opens all of its account: delete it, and at bunny.net, too.'
echo "$left" | sed 's/^/  /'
