#!/bin/sh
# Runs a real systemd as process 1, without units of this machine. As root:
#   unshare --mount --pid --fork --kill-child systemd.sh
# Writes to /etc, /usr, /var and /run stay in its mount namespace, and its cgroups below their own one.
set -eu

scratch=/run
mount -t proc proc /proc
mount -t tmpfs tmpfs "$scratch"
for folder in /etc /usr /var; do
  changed=$scratch/changed$folder
  mkdir -p "$changed/upper" "$changed/work"
  mount -t overlay -o "lowerdir=$folder,upperdir=$changed/upper,workdir=$changed/work" overlay "$folder"
done

mkdir -p "$scratch/targets"
for target in basic multi-user network-online shutdown sysinit; do
  printf '[Unit]\nDefaultDependencies=no\n' >"$scratch/targets/$target.target"
done
# The units of a package, without the others that are there.
mkdir "$scratch/packaged"
for unit in bunnynet-exporter bunnynet-exporter@; do
  ln -s "/usr/lib/systemd/system/$unit.service" "$scratch/packaged/"
done

# As on a real machine, mounts of one service reach the others. None of them leave the namespace.
mount --make-rshared /

mkdir "$scratch/cgroup"
mount -t cgroup2 cgroup2 "$scratch/cgroup"
own=$scratch/cgroup/bunnynet-exporter-test
mkdir -p "$own"
echo $$ >"$own/cgroup.procs"
export container=unshare
export SYSTEMD_UNIT_PATH="$scratch/targets:/etc/systemd/system:/usr/local/lib/systemd/system:$scratch/packaged"
exec unshare --cgroup sh -c '
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  exec /lib/systemd/systemd --system --unit=basic.target --show-status=no'
