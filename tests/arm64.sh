#!/usr/bin/env bash
# Runs tests with the wheel on 64-bit ARM: in a Debian root whose programs QEMU emulates.
#
#   arm64.sh PYTEST_ARGUMENTS...
#
# Needs root on Debian, and installs QEMU and debootstrap there. The root has the versions of
# constraints.txt and stays in ${ILN_CACHE:-~/.cache/iln_stream}/arm64 (2 GB; delete it to start
# over). It contains this machine's package settings: do not publish it.
set -euo pipefail
cd "$(dirname "$0")/.."

CACHE=$(realpath -m "${ILN_CACHE:-$HOME/.cache/iln_stream}/arm64")
ROOT=$CACHE/root
. tests/stack/engine/packages.sh
. tests/stack/engine/root_filesystem.sh

say() { printf '[arm64 %4ds] %s\n' "$SECONDS" "$*" >&2; }
die() { say "error: $*"; exit 1; }

install_programs() {
    [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null || die "needs root on Debian"
    if ! (command -v debootstrap && command -v qemu-aarch64-static) > /dev/null; then
        apt-get -qq update
        apt-get -qq install --yes binfmt-support debootstrap qemu-user-static > /dev/null
    fi
    [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || update-binfmts --enable qemu-aarch64 ||
        die "the kernel lets no emulator run foreign programs"
}

make_root() {
    local keyring
    [ ! -e "$ROOT/src" ] || return 0
    discard_root "$ROOT"
    make_apt "$IMAGE_SUITE"
    keyring=$(source_field Signed-By)
    debootstrap --arch=arm64 --variant=minbase ${keyring:+--keyring="$keyring"} \
        --include=ca-certificates,procps,python3-venv "$IMAGE_SUITE" "$ROOT" \
        "$(source_field URIs)" > "$CACHE/debootstrap.log" 2>&1 || die "see $CACHE/debootstrap.log"
    trust_certificates "$ROOT"
    pip_settings > "$ROOT/etc/pip.conf"
    chroot "$ROOT" python3 -m venv /venv
    mkdir "$ROOT/src"
}

# The repository is /src there. Of the environment, proxies and QEMU_CPU pass (cortex-a53: an old CPU;
# unset: one with everything). Other variables have paths of this machine, or choose for its CPU.
in_root() {
    # shellcheck disable=SC2016,SC2046
    unshare --mount bash -euc 'mount -t proc proc "$0/proc"; mount --bind . "$0/src"; chroot "$0" "$@"' \
        "$ROOT" env -iC /src PATH=/venv/bin:/usr/bin:/bin HOME=/root LANG=C.UTF-8 \
        $(env | grep -Ei '^(https?_proxy|no_proxy|qemu_cpu)=') "$@"
}

install_programs
make_root
in_root pip install --quiet --no-compile --constraint constraints.txt \
    '.[api,client,compression,confluent,demo,experiments,onnx,parquet,registry]' \
    hypothesis pandas polars pytest pytest-timeout pytest-xdist pyyaml scikit-learn scipy
say "ready"
in_root pytest -p no:cacheprovider -o timeout=3600 "$@"
