#!/bin/sh
# After the installation and before the removal of the deb or rpm. Nothing is started that was not running: there may be no key yet.
set -eu
[ -d /run/systemd/system ] || exit 0

case $1 in
  # deb: configure; rpm: how many versions are installed then
  configure | 1 | 2)
    systemctl daemon-reload
    systemctl try-restart bunnynet-exporter 'bunnynet-exporter@*'
    ;;
  remove | 0)
    systemctl disable --now bunnynet-exporter
    for unit in $(systemctl list-units --all --plain --no-legend 'bunnynet-exporter@*' | cut -d ' ' -f 1); do
      systemctl disable --now "$unit"
    done
    ;;
esac
