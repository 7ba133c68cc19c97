#!/bin/bash
# What the quickstart and the tests share: packages, an engine, a registry, an executor image.
# Source it, or call one function:   support.sh FUNCTION ARGUMENT...
# shellcheck disable=SC2034  # the lists of packages are read by those who source this

autopack_build_packages=(
  g++ meson ninja-build pkg-config python3 git ca-certificates
  libfmt-dev nlohmann-json3-dev libcurl4-openssl-dev libssl-dev libarchive-dev libdeflate-dev libgit2-dev libsquashfs-dev
  libyaml-cpp-dev libtomlplusplus-dev libcli11-dev libkainjow-mustache-dev doctest-dev
)
autopack_base_packages=(mmdebstrap)
autopack_engine_packages=(docker.io docker-registry curl "${autopack_base_packages[@]}")
# By which containers of podman find each other by name; aardvark-dns does it for newer ones.
podman_dns=golang-github-containernetworking-plugin-dnsname
autopack_test_packages=(
  clang-format-14 shellcheck podman "$podman_dns" skopeo bubblewrap crun runc apache2-utils uidmap slirp4netns openssl iproute2 zsh fish man-db groff-base
  squashfs-tools squashfs-tools-ng slurmctld slurmd slurm-client munge pre-commit git-lfs openssh-client openssh-server
  python3-build python3-packaging python3-setuptools python3-wheel python3-pip python3-jsonschema python3-yaml python3-pyte
  python3-google-auth qemu-user-static debian-archive-keyring
  python3-pip-whl python3-setuptools-whl python3-wheel-whl
  patchelf binutils dpkg-dev clang clang-tidy libclang-rt-dev lld llvm strace chromium-driver
)
# In the executor image: what a training image brings, from the machine's own distribution.
autopack_executor_packages=(python3 python3-pip python3-numpy ca-certificates)

say() {
  printf '%s\n' "$*" >&2
}

as_root() {
  [ "$(id -u)" = 0 ]
}

# Installs the packages that are missing; without root it says how to.
need_packages() {
  local missing=() name
  for name in "$@"; do
    [ "$name" = docker.io ] && command -v dockerd >/dev/null && command -v docker >/dev/null && continue
    [ "$name" = clang-format-14 ] && command -v clang-format >/dev/null && continue
    [ "$name" = "$podman_dns" ] && [ -x /usr/lib/podman/aardvark-dns ] && continue
    dpkg-query -W -f '${Status}\n' "$name" 2>/dev/null | grep -q ' installed$' || missing+=("$name")
  done
  [ ${#missing[@]} = 0 ] && return 0
  if ! as_root; then
    say "these packages are missing; install them as root, then run this again:"
    say "  apt-get install ${missing[*]}"
    return 1
  fi
  say "installing ${missing[*]}"
  apt-get update -qq >&2
  # Newer releases ship the docker command apart, and other versions of clang-format.
  if [[ " ${missing[*]} " == *" docker.io "* ]]; then
    for name in docker-cli docker-buildx; do
      [ -n "$(apt-cache madison "$name" 2>/dev/null)" ] && missing+=("$name")
    done
  fi
  if [[ " ${missing[*]} " == *" chromium-driver "* && -z "$(apt-cache madison chromium-driver)" ]]; then
    say "this release has no package chromium-driver: the tests that need a browser will fail"
    mapfile -t missing < <(printf '%s\n' "${missing[@]}" | grep -vx chromium-driver)
  fi
  if [[ " ${missing[*]} " == *" $podman_dns "* && -z "$(apt-cache madison "$podman_dns")" ]]; then
    missing=("${missing[@]/$podman_dns/aardvark-dns}")
  fi
  if [[ " ${missing[*]} " == *" clang-format-14 "* && -z "$(apt-cache madison clang-format-14)" ]]; then
    missing=("${missing[@]/clang-format-14/clang-format}")
  fi
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    </dev/null >&2
}

engine_answers() {
  docker version --format '{{.Server.Version}}' >/dev/null 2>&1
}

# Starts dockerd when no engine answers. Prints its process id when it started one, else nothing.
start_engine() {
  local log=$1 pid
  engine_answers && return 0
  if ! as_root; then
    say "no Docker Engine answers: start one, or add this user to the group docker"
    return 1
  fi
  setsid dockerd >"$log" 2>&1 </dev/null &
  pid=$!
  for _ in $(seq 150); do
    if engine_answers; then
      echo "$pid"
      return 0
    fi
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.2
  done
  say "dockerd did not start; the end of $log:"
  tail -n 20 "$log" >&2
  kill "$pid" 2>/dev/null
  return 1
}

# Ends a process by its id and waits for it.
end_process() {
  local pid=$1
  kill "$pid" 2>/dev/null || return 0
  for _ in $(seq 100); do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -9 "$pid" 2>/dev/null
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Becomes a registry on 127.0.0.1:PORT that keeps its data in DIR; with a third argument it asks for
# the logins of that htpasswd file.
run_registry() {
  local dir=$1 port=$2 passwords=${3:-}
  mkdir -p "$dir"
  {
    echo "version: 0.1"
    echo "log: {level: warn, accesslog: {disabled: true}}"
    echo "storage: {filesystem: {rootdirectory: '$dir'}, delete: {enabled: true}}"
    echo "http: {addr: '127.0.0.1:$port'}"
    [ -n "$passwords" ] && echo "auth: {htpasswd: {realm: autopack, path: '$passwords'}}"
  } >"$dir/config.yml"
  exec docker-registry serve "$dir/config.yml"
}

wait_for_url() {
  local url=$1
  for _ in $(seq 100); do
    curl --silent --output /dev/null "$url" && return 0
    sleep 0.1
  done
  say "nothing answers at $url"
  return 1
}

# The sources of Debian or Ubuntu that this machine uses itself, as one-line entries.
# shellcheck disable=SC2016  # the $( ) are for apt
apt_sources() {
  apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)|$(ORIGIN)' \
    'Created-By: Packages' | sed -n 's/|\(Debian\|Ubuntu\)$//p' | sort -u
}

executor_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# The release that root file systems are made of: this machine's, or the one of Debian that autopack_suite names.
root_suite() {
  # shellcheck source=/dev/null
  echo "${autopack_suite:-$(. /etc/os-release && echo "${VERSION_CODENAME:-}")}"
}

# What no program of the executor images needs: a third of their bytes. Perl's modules are removed at the end, because
# usrmerge runs them.
# shellcheck disable=SC2016  # "$1" is for mmdebstrap's shell
root_without=(--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*'
  --dpkgopt='path-exclude=/usr/share/locale/*' --customize-hook='cd "$1/usr" && rm -rf share/perl/5* lib/*/perl/5* \
    lib/*/libperl.so* lib/*/gconv lib/python3/dist-packages/numpy/tests lib/python3/dist-packages/numpy/*/tests')

# What a root file system is made of: suite and packages, and what is left out.
root_key() {
  printf '%s\n' "$(root_suite)" "$@" "${root_without[@]}" | sha256sum | cut -c1-16
}

# Prints the path in the cache of the tar NAME that is made of PACKAGES, whether it is there yet or not.
cached_tar() {
  local cache=${XDG_CACHE_HOME:-$HOME/.cache}/autopack-tests
  mkdir -p "$cache"
  echo "$cache/$1-$(root_suite)-$(root_key "${@:2}").tar"
}

# Makes the tar PATH of a root file system by mmdebstrap with the OPTIONs. Several may do so at once.
make_root() {
  local tar=$1 proxy sources=() partial=${1%.tar}.$$.partial.tar
  shift
  proxy=$(apt-config shell p Acquire::http::Proxy | sed -n "s/^p='\(.*\)'$/\1/p")
  [ -n "$proxy" ] && set -- --aptopt="Acquire::http::Proxy \"$proxy\"" "$@"
  if [ -z "${autopack_suite:-}" ]; then
    sources=("${partial%.partial.tar}.list")
    apt_sources >"${sources[0]}"
    if [ ! -s "${sources[0]}" ]; then
      say "apt knows no Debian or Ubuntu sources: run apt-get update"
      return 1
    fi
  fi
  mmdebstrap --quiet "$@" "$(root_suite)" "$partial" "${sources[@]}" >&2 </dev/null || return 1
  mv "$partial" "$tar" && rm -f "${sources[@]}"
}

# Makes a root file system from PACKAGES of root_suite, and prints the path of its tar, which
# begins with NAME; quick when it was made before.
root_tar() {
  local name=$1 tar
  shift
  tar=$(cached_tar "$name" "$@")
  if [ ! -f "$tar" ]; then
    if ! as_root && ! has_user_namespaces; then
      say "making a root file system needs root once, or user namespaces"
      return 1
    fi
    make_root "$tar" --variant=apt --include="$(IFS=,; echo "$*")" \
      "${root_without[@]}" || return 1
  fi
  echo "$tar"
}

# The same for ARCHITECTURE, of Debian's packages unpacked and not configured: nothing of them is run.
unpacked_root_tar() {
  local architecture=$1 tar
  shift
  export autopack_suite=${autopack_suite:-bookworm}
  tar=$(cached_tar "$architecture" "$@")
  [ -f "$tar" ] || make_root "$tar" --architectures="$architecture" --variant=extract --include="$(IFS=,; echo "$*")" || return 1
  echo "$tar"
}

executor_key() {
  root_key "${autopack_executor_packages[@]}"
}

executor_tar() {
  root_tar executor "${autopack_executor_packages[@]}"
}

# Makes IMAGE in the engine from executor_tar.
make_executor_image() {
  local image=$1 key tar
  key=$(executor_key)
  if [ "$(docker image inspect --format '{{index .Config.Labels "executor.key"}}' "$image" \
    2>/dev/null)" = "$key" ]; then
    return 0
  fi
  tar=$(executor_tar) || return 1
  docker import --change "ENV PATH=$executor_path" \
    --change 'CMD ["python3"]' --change "LABEL executor.key=$key" "$tar" "$image" >/dev/null
}

# Puts TEXT into the blobs of the OCI layout DIR and prints its descriptor.
layout_blob() {
  local dir=$1 type=$2 text=$3 digest
  digest=$(printf '%s' "$text" | sha256sum | cut -d' ' -f1)
  printf '%s' "$text" >"$dir/blobs/sha256/$digest"
  printf '{"mediaType":"%s","digest":"sha256:%s","size":%d}' "$type" "$digest" "${#text}"
}

# Makes the OCI layout DIR of one layer from executor_tar, with no engine.
make_executor_layout() {
  local dir=$1 tar layer type=application/vnd.oci.image config manifest
  tar=$(executor_tar) || return 1
  mkdir -p "$dir/blobs/sha256"
  layer=$(sha256sum "$tar" | cut -d' ' -f1)
  cp "$tar" "$dir/blobs/sha256/$layer"
  config='{"architecture":"'$(dpkg --print-architecture)'","os":"linux","config":{"Env":["PATH='$executor_path'"],'
  config+='"Cmd":["python3"]},"rootfs":{"type":"layers","diff_ids":["sha256:'$layer'"]}}'
  manifest='{"schemaVersion":2,"mediaType":"'$type.manifest.v1+json'","config":'
  manifest+=$(layout_blob "$dir" "$type.config.v1+json" "$config")
  manifest+=',"layers":[{"mediaType":"'$type.layer.v1.tar'","digest":"sha256:'$layer'","size":'
  manifest+=$(stat -L -c %s "$tar")'}]}'
  manifest=$(layout_blob "$dir" "$type.manifest.v1+json" "$manifest")
  printf '{"schemaVersion":2,"manifests":[%s]}' "$manifest" >"$dir/index.json"
  printf '{"imageLayoutVersion":"1.0.0"}' >"$dir/oci-layout"
}

has_user_namespaces() {
  unshare --user --map-root-user true 2>/dev/null
}

# Prints what the only image of the OCI layout DIR says: `layers` (their files), `command` (entry point and
# environment as words of env), `directory`.
layout_says() {
  python3 - "$@" <<'PYTHON'
import json, pathlib, sys
layout, what = pathlib.Path(sys.argv[1]), sys.argv[2]
def blob(descriptor):
    return layout / 'blobs' / descriptor['digest'].replace(':', '/')
[entry] = json.loads((layout / 'index.json').read_text())['manifests']
manifest = json.loads(blob(entry).read_text())
config = json.loads(blob(manifest['config']).read_text())['config']
lines = {'layers': [str(blob(layer)) for layer in manifest['layers']],
         'command': config['Env'] + config['Entrypoint'], 'directory': [config['WorkingDir']]}[what]
print('\n'.join(lines))
PYTHON
}

# Runs the image in the OCI layout DIR in a changed root below SCRATCH, with no engine: as root, or in a user
# namespace. Its layers must take nothing away (no whiteouts), as those of autopack and of
# make_executor_layout. Status 77: nothing here allows it.
run_layout() {
  local dir=$1 root=$2/root layer enter=() command
  if as_root && chroot / true 2>/dev/null; then
    enter=(chroot)
  elif has_user_namespaces; then
    enter=(unshare --user --map-root-user chroot)
  else
    return 77
  fi
  rm -rf "$root"
  mkdir -p "$root"
  layout_says "$dir" layers | while read -r layer; do
    tar --extract --file "$layer" --directory "$root" --exclude='./dev/*' --no-same-owner
  done
  mapfile -t command < <(layout_says "$dir" command)
  # shellcheck disable=SC2016  # expanded inside
  "${enter[@]}" "$root" /bin/sh -c 'cd "$0" && exec /usr/bin/env -i "$@"' \
    "$(layout_says "$dir" directory)" "${command[@]}"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  "$@"
fi
