#!/bin/sh
# Runs a command in the root of an image like a container: read-only, as user 65532 or $CONTAINER_USER, as process 1. Start it in
# its own mount and process namespaces: unshare --mount --pid --fork container.sh ROOT COMMAND …
set -eu

root=$1
shift
mount --bind "$root" "$root"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -o remount,bind,ro "$root"
exec chroot --userspec="${CONTAINER_USER:-65532:65532}" "$root" "$@"
