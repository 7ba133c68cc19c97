#!/bin/bash
# What the quickstart and the tests share: packages, an engine, a registry, an executor image.
# Source it, or call one function:   support.sh FUNCTION ARGUMENT...
# shellcheck disable=SC2034  # the lists of packages are read by those who source this

autopack_build_packages=(
  g++ meson ninja-build pkg-config python3 git ca-certificates
  libfmt-dev nlohmann-json3-dev libcurl4-openssl-dev libssl-dev libarchive-dev libdeflate-dev libgit2-dev
  libyaml-cpp-dev libtomlplusplus-dev libcli11-dev libkainjow-mustache-dev doctest-dev
)
autopack_engine_packages=(docker.io docker-registry mmdebstrap curl)
autopack_test_packages=(
  clang-format-14 shellcheck podman runc apache2-utils openssl iproute2
  python3-build python3-setuptools python3-wheel python3-pip
  python3-pip-whl python3-setuptools-whl python3-wheel-whl
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
    [ "$name" = docker.io ] && command -v dockerd docker >/dev/null && continue
    [ "$name" = clang-format-14 ] && command -v clang-format >/dev/null && continue
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

# Makes IMAGE from packages of this machine's distribution; quick when it was made before.
make_executor_image() {
  local image=$1 suite key cache tar proxy
  local options=()
  # shellcheck source=/dev/null
  suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  key=$(printf '%s\n' "$suite" "${autopack_executor_packages[@]}" | sha256sum | cut -c1-16)
  if [ "$(docker image inspect --format '{{index .Config.Labels "executor.key"}}' "$image" \
    2>/dev/null)" = "$key" ]; then
    return 0
  fi
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/autopack-tests
  tar=$cache/executor-$suite-$key.tar
  if [ ! -f "$tar" ]; then
    if ! as_root; then
      say "making the executor image needs root once"
      return 1
    fi
    mkdir -p "$cache"
    proxy=$(apt-config shell p Acquire::http::Proxy | sed -n "s/^p='\(.*\)'$/\1/p")
    [ -n "$proxy" ] && options+=(--aptopt="Acquire::http::Proxy \"$proxy\"")
    apt_sources >"$cache/sources.list"
    if [ ! -s "$cache/sources.list" ]; then
      say "apt knows no Debian or Ubuntu sources: run apt-get update"
      return 1
    fi
    mmdebstrap --quiet --variant=apt --include="$(IFS=,; echo "${autopack_executor_packages[*]}")" \
      --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
      --dpkgopt='path-exclude=/usr/share/locale/*' "${options[@]}" \
      "$suite" "${tar%.tar}.partial.tar" "$cache/sources.list" >&2 </dev/null
    mv "${tar%.tar}.partial.tar" "$tar"
  fi
  docker import --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
    --change 'CMD ["python3"]' --change "LABEL executor.key=$key" "$tar" "$image" >/dev/null
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  "$@"
fi
