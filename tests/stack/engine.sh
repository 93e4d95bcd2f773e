#!/usr/bin/env bash
# Runs a command with a Docker engine and the images of docker-compose.yml.
#
#   engine.sh run COMMAND...   run it with this machine's engine; else start one, stop it afterwards
#                              and restore the machine
#   engine.sh stop             restore the machine after a killed `run`
#
# It fetches Debian's engine without installing it. It pulls no image, but builds stand-ins
# from Debian packages and Maven jars under the names that docker-compose.yml and our Dockerfile use.
# Engine, images and build cache stay in ${ILN_CACHE:-~/.cache/iln_stream}/docker (3 GB; delete it to
# start over). The stand-ins contain this machine's package settings: do not publish them.
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034
TOP=$(cd "$HERE/../.." && pwd) # where docker-compose.yml is
CACHE=$(realpath -m "${ILN_CACHE:-$HOME/.cache/iln_stream}/docker")
PROGRAMS=$CACHE/programs # the unpacked packages
RUN=/run/iln-docker      # sockets (which need short paths) and the machine's saved state

for part in packages root_filesystem machine_state daemon images; do
  # shellcheck source=/dev/null
  . "$HERE/engine/$part.sh"
done

say() { printf '[engine %3ds] %s\n' "$SECONDS" "$*" >&2; }
die() { say "error: $*"; exit 1; }

wait_for() { # wait_for SECONDS COMMAND...
  local tries=$(($1 * 5))
  shift
  until "$@" > /dev/null 2>&1; do
    ((tries-- > 0)) || return 1
    sleep .2
  done
}

check_machine() {
  local need="without a running Docker engine the stack's test starts one, and for that needs"
  [ "$(id -u)" = 0 ] || die "$need to be root"
  command -v apt-get > /dev/null || die "$need Debian's apt-get"
  command -v mvn > /dev/null || die "$need Maven, which fetches Kafka (apt-get install maven)"
  [ -e /sys/fs/cgroup/cgroup.controllers ] || [ -d /sys/fs/cgroup/memory ] ||
    die "$need control groups, and no such hierarchy is mounted at /sys/fs/cgroup"
}

lock() { # one engine at a time, as its network is the machine's; fd 9 holds the lock
  exec 9> "$RUN.lock"
  flock --nonblock 9 || { say "waiting for another run to end"; flock 9; }
}

use_our_engine() { # for this script and the command
  export DOCKER_HOST=unix://$RUN/docker.sock DOCKER_CONFIG=$CACHE/client
  export PATH=$CACHE/bin:$PROGRAMS/usr/sbin:/usr/sbin:/sbin:$PATH:$PROGRAMS/usr/bin
}

run() {
  if docker info > /dev/null 2>&1; then
    say "a Docker engine runs here: $(docker version --format '{{.Server.Version}}')"
    exec "$@"
  fi
  check_machine
  lock
  use_our_engine
  mkdir -p "$CACHE"
  if [ -e "$RUN" ]; then stop_daemon; fi # left by a killed run
  fetch_programs
  fetch_root_filesystem & local root_filesystem=$!
  fetch_kafka & local kafka=$!
  wait "$root_filesystem" || die "no root file system"
  wait "$kafka" || die "no Kafka"
  trap stop_daemon EXIT
  trap 'exit 143' INT TERM
  start_daemon
  make_images
  say "ready"
  "$@" 9>&-
}

case ${1:-} in
  run) [ $# -ge 2 ] || die "run what?"; shift; run "$@" ;;
  stop) lock; use_our_engine; stop_daemon ;;
  *) sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
