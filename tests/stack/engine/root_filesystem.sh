# Makes $CACHE/root.tar: a small Debian with Python and Java, the base of the stand-in images.
# shellcheck shell=bash disable=SC2154

IMAGE_SUITE=bookworm # Debian 12 has Python 3.11, like the image that it replaces

fetch_root_filesystem() {
  local root=$CACHE/root keyring
  [ ! -s "$root.tar" ] || return 0
  discard_root "$root"
  make_apt "$IMAGE_SUITE"
  keyring=$(source_field Signed-By)
  DEBOOTSTRAP_DIR=$PROGRAMS/usr/share/debootstrap "$PROGRAMS/usr/sbin/debootstrap" --variant=minbase \
    ${keyring:+--keyring="$keyring"} \
    --include=python3-venv,ca-certificates,openjdk-17-jre-headless,procps \
    "$IMAGE_SUITE" "$root" "$(source_field URIs)" > "$CACHE/debootstrap.log" 2>&1 || {
    tail -5 "$CACHE/debootstrap.log" >&2
    return 1
  }
  trust_certificates "$root"
  chroot "$root" python3 -m venv /usr/local # where the official image has its `python` and `pip`
  pip_settings > "$root/etc/pip.conf"
  rm -rf "$root"/var/{cache/apt,lib/apt/lists} "$root"/usr/share/{doc,man,locale}
  rm -f "$root"/etc/{resolv.conf,hostname}
  tar --numeric-owner --exclude='./proc/*' --exclude='./sys/*' --exclude='./dev/*' \
    -C "$root" -cf "$root.part" .
  mv "$root.part" "$root.tar"
  discard_root "$root"
  say "root file system: $(du -h "$root.tar" | cut -f1)"
}

discard_root() { # debootstrap leaves mounts behind
  umount --recursive "$1/proc" "$1/sys" 2> /dev/null || true
  rm -rf --one-file-system "$1"
}

source_field() { # the first value of a field in the machine's sources, in either of apt's formats
  awk -v field="$1:" '
    $1 == field {print $2; exit}
    field == "URIs:" && $1 == "deb" {for (i = 2; i <= NF; i++) if ($i ~ "^[a-z+]+://") {print $i; exit}}
  ' "$CACHE/apt/$IMAGE_SUITE/sources"/*
}

# The certificates that this machine trusts, so that pip works in a build as outside.
trust_certificates() {
  local bundle
  bundle=$(python3 -c 'import os, ssl
print(os.environ.get("PIP_CERT") or ssl.get_default_verify_paths().cafile or "")')
  [ -s "$bundle" ] || return 0
  mkdir -p "$1/usr/local/share/ca-certificates"
  csplit --quiet --elide-empty-files --suffix-format=%03d.crt \
    --prefix="$1/usr/local/share/ca-certificates/machine-" "$bundle" '/-----BEGIN CERTIFICATE-----/' '{*}'
  chroot "$1" update-ca-certificates > /dev/null 2>&1
}

# pip's settings that apply in a container: indexes, trusted hosts and timeouts, without paths.
pip_settings() {
  printf '[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n'
  python3 -m pip config list | sed 's/^[^=]*\.default-timeout=/global.timeout=/' | sort -u -t= -k1,1 |
    sed -nE "s/^[^=]*\.(index-url|extra-index-url|trusted-host|proxy|timeout|retries)='(.*)'$/\1 = \2/p"
}
