#!/bin/sh
# Creates the roots of the Dockerfile's two base images from files of this machine, for machines that cannot pull images:
# base-images.sh NODE FOLDER makes FOLDER/run (only Node) and FOLDER/build (with a shell and npm).
set -eu

node=$1
folder=$2

for name in run build; do
  root=$folder/$name
  mkdir -p "$root/nodejs/bin" "$root/dev" "$root/etc/ssl/certs" "$root/home" "$root/proc" "$root/root" "$root/tmp"
  cp "$node" "$root/nodejs/bin/node"
  # Node's libraries, and those that the C library needs to resolve names.
  libraries=$(ldd "$node" | sed -n 's|.*[[:space:]]\(/[^ ]*\) (.*|\1|p')
  c_library=$(echo "$libraries" | grep '/libc\.so')
  for library in $libraries "$(dirname "$c_library")"/libnss_dns.so.2 "$(dirname "$c_library")"/libresolv.so.2; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  echo 'nonroot:x:65532:65532:nonroot:/home:/sbin/nologin' >"$root/etc/passwd"
done

root=$folder/build
mkdir -p "$root/bin" "$root/usr/bin" "$root/usr/local/bin" "$root/usr/local/lib/node_modules"
cp "$(command -v busybox)" "$root/bin/busybox"
for applet in sh env mkdir cp cat ls; do ln -s busybox "$root/bin/$applet"; done
ln -s /bin/env "$root/usr/bin/env"
cp -rL "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$root/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
