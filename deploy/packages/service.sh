#!/bin/sh
# After the installation and before the removal of the deb or rpm. Nothing is started that was not running: there may be no key yet.
set -eu

key=/etc/bunnynet-exporter/access-key
units=/etc/systemd/system

# Whether the unit or one of its drop-ins hands over the key already.
has_key() {
  # A drop-in of the template is one of its instances, not of the plain unit.
  case $1 in *@*) shared=${1%%@*}@ ;; *) shared=$1 ;; esac
  grep -qsE '^(Load|Set)Credential(Encrypted)?=access-key\b' \
    "$units/$1.service" "$units/$1.service.d"/*.conf "$units/$shared.service.d"/*.conf
}

# Without it a key in its usual place would not be seen: the service runs as a user of its own, who may not read it.
hand_over() {
  [ -e "$2" ] || return 0
  ! has_key "$1" || return 0
  drop_in=$units/$1.service.d/key.conf
  [ ! -e "$drop_in" ] || return 0
  mkdir -p "${drop_in%/*}"
  printf '[Service]\nLoadCredential=access-key:%s\n' "$2" >"$drop_in"
  echo "bunnynet-exporter: wrote $drop_in, which hands $2 to the service"
}

case $1 in
  # deb: configure; rpm: how many versions are installed then
  configure | 1 | 2)
    hand_over bunnynet-exporter "$key"
    for file in "${key%/*}"/*/access-key; do
      instance=${file%/access-key}
      hand_over "bunnynet-exporter@${instance##*/}" "$file"
    done
    ;;
esac

[ -d /run/systemd/system ] || exit 0

case $1 in
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
