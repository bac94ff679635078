#!/bin/sh
# Runs a real systemd as process 1, with no unit of this machine: as root, by
#   unshare --mount --pid --fork --kill-child systemd.sh
# What is written to /etc, /usr/local and /run stays in its mount namespace, its cgroups stay below one of their own.
set -eu

scratch=/run
mount -t proc proc /proc
mount -t tmpfs tmpfs "$scratch"
for folder in /etc /usr/local; do
  changed=$scratch/changed$folder
  mkdir -p "$changed/upper" "$changed/work"
  mount -t overlay -o "lowerdir=$folder,upperdir=$changed/upper,workdir=$changed/work" overlay "$folder"
done

mkdir -p "$scratch/targets"
for target in basic multi-user network-online shutdown sysinit; do
  printf '[Unit]\nDefaultDependencies=no\n' >"$scratch/targets/$target.target"
done

# As a machine's first process has it: what one service mounts for another arrives there. Nothing of it leaves the namespace.
mount --make-rshared /

mkdir "$scratch/cgroup"
mount -t cgroup2 cgroup2 "$scratch/cgroup"
own=$scratch/cgroup/bunnynet-exporter-test
mkdir -p "$own"
echo $$ >"$own/cgroup.procs"
export container=unshare
export SYSTEMD_UNIT_PATH="$scratch/targets:/etc/systemd/system:/usr/local/lib/systemd/system"
exec unshare --cgroup sh -c '
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  exec /lib/systemd/systemd --system --unit=basic.target --show-status=no'
