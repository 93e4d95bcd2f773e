# Unpacks the engine's programs from Debian packages below $PROGRAMS, without installing them.
# shellcheck shell=bash disable=SC2154

ENGINE_SUITE=trixie # Debian 13: the oldest with the plugins for compose and buildx
PROMETHEUS_SUITE=forky # Debian 14: the oldest with Prometheus 3

fetch_programs() {
  local done=$CACHE/programs-2.ok suite program
  [ ! -e "$done" ] || return 0
  rm -rf "$PROGRAMS" "${CACHE:?}/bin" "$CACHE/client"
  suite=$(machine_suite)
  # From this machine's own suite: programs that need only its C library.
  download "$suite" debootstrap iptables libip4tc2 libip6tc2 libxtables12 libmnl0 libnftnl11 \
    libnetfilter-conntrack3 libnfnetlink0 runc busybox-static
  download_missing "$suite" iptables runc
  download "$ENGINE_SUITE" docker.io containerd tini docker-cli docker-compose docker-buildx
  download "$PROMETHEUS_SUITE" prometheus promtool
  unpack "$suite" "$ENGINE_SUITE" "$PROMETHEUS_SUITE"
  wrap_iptables
  mkdir -p "$CACHE/client/cli-plugins"
  ln -s "$PROGRAMS"/usr/libexec/docker/cli-plugins/docker-{compose,buildx} "$CACHE/client/cli-plugins"
  for program in dockerd containerd runc docker-proxy; do
    ! ldd "$(command -v "$program")" 2> /dev/null | grep 'not found' >&2 || die "$program lacks a library"
  done
  iptables --version > /dev/null || die "iptables does not run"
  touch "$done"
  say "fetched: $(dockerd --version)"
}

machine_suite() {
  # shellcheck source=/dev/null
  (. /etc/os-release && echo "$VERSION_CODENAME")
}

# These packages, whether or not this machine has them installed.
download() {
  local suite=$1
  shift
  make_apt "$suite"
  (cd "$CACHE/apt/$suite/archives" && private_apt "$suite" download "$@")
}

# Dependencies of these packages that this machine lacks.
download_missing() {
  local suite=$1
  shift
  make_apt "$suite"
  private_apt "$suite" install --yes --no-install-recommends --download-only "$@"
}

unpack() {
  local suite package
  mkdir -p "$PROGRAMS"
  for suite in "$@"; do
    for package in "$CACHE/apt/$suite"/archives/*.deb; do dpkg-deb --extract "$package" "$PROGRAMS"; done
  done
}

private_apt() { APT_CONFIG=$CACHE/apt/$1/apt.conf apt-get -qq "${@:2}" >&2; }

# An apt for one suite with its own lists, cache and locks; it only reads the machine's. It uses the
# machine's sources with another suite, and its settings except hooks, which may change things.
make_apt() {
  local suite=$1 apt=$CACHE/apt/$1 machine file
  local parts sourceparts sourcelist status # set by apt-config
  [ ! -s "$apt/apt.conf" ] || return 0
  machine=$(machine_suite)
  eval "$(apt-config shell parts Dir::Etc::parts/d sourceparts Dir::Etc::sourceparts/d \
    sourcelist Dir::Etc::sourcelist/f status Dir::State::status/f)"
  mkdir -p "$apt"/{sources,conf,lists/partial,archives/partial}
  for file in "$sourceparts"/*.sources; do
    grep -Eqs "^Suites:.*\b$machine(\s|$)" "$file" || continue
    sed "s/\b$machine\b/$suite/g" "$file" > "$apt/sources/${file##*/}"
  done
  for file in "$sourcelist" "$sourceparts"/*.list; do
    grep -Eqs "^deb .*\s$machine\s" "$file" || continue
    grep -E "^deb .*\s$machine(-[a-z]+)?\s" "$file" | sed "s/\b$machine\b/$suite/g" > "$apt/sources/${file##*/}"
  done
  for file in "$parts"/*; do
    [ ! -f "$file" ] || grep -q Invoke "$file" || cp "$file" "$apt/conf"
  done
  cat > "$apt/apt.conf" << A
Dir::Etc::main "/dev/null";
Dir::Etc::parts "$apt/conf";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$apt/sources";
Dir::State::lists "$apt/lists";
Dir::State::status "$status";
Dir::Cache "$apt";
Dir::Cache::archives "$apt/archives";
Dir::Log "$apt";
Acquire::Languages "none";
Acquire::Retries "3";
APT::Sandbox::User "root";
Debug::NoLocking "1";
A
  private_apt "$suite" update || {
    rm "$apt/apt.conf"
    die "apt-get update failed for Debian $suite"
  }
}

# iptables finds its libraries and extensions only in their installed location.
wrap_iptables() {
  local lib name
  lib=$PROGRAMS/usr/lib/$(uname -m)-linux-gnu
  mkdir -p "$CACHE/bin"
  for name in {ip,ip6}tables{,-save,-restore}; do
    cat > "$CACHE/bin/$name" << S
#!/bin/sh
LD_LIBRARY_PATH=$lib XTABLES_LIBDIR=$lib/xtables exec $PROGRAMS/usr/sbin/xtables-nft-multi $name "\$@"
S
    chmod +x "$CACHE/bin/$name"
  done
}
