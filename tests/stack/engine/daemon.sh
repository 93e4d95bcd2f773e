# Starts dockerd with its own roots, socket and settings, and ends all its processes.
# shellcheck shell=bash disable=SC2154

start_daemon() {
  remember_machine
  # Instead of the machine's own settings.
  echo '{"features": {"buildkit": true}, "builder": {"gc": {"enabled": true, "defaultKeepStorage": "3GB"}}}' \
    > "$RUN/daemon.json"
  setsid dockerd --config-file "$RUN/daemon.json" --host "$DOCKER_HOST" --pidfile "$RUN/pid" \
    --data-root "$CACHE/data" --exec-root "$RUN/exec" --group "$(id -gn)" --mtu "$(route_mtu)" \
    > "$CACHE/dockerd.log" 2>&1 < /dev/null 9>&- &
  wait_for 30 docker version || {
    tail -20 "$CACHE/dockerd.log" >&2
    die "dockerd did not come up; its log is $CACHE/dockerd.log"
  }
  say "engine up: $(docker version --format '{{.Server.Version}}')"
}

route_mtu() { # the MTU of a container must not exceed that of the default route
  local device mtu=1500
  device=$(ip -o route show default | sed -n 's/.* dev \([^ ]*\).*/\1/p' | head -1)
  [ -z "$device" ] || mtu=$(cat "/sys/class/net/$device/mtu")
  echo $((mtu < 1500 ? mtu : 1500))
}

stop_daemon() ( # continues after failures, to undo as much as possible
  set +e
  if docker version > /dev/null 2>&1; then
    containers=$(docker ps --all --quiet)
    # shellcheck disable=SC2086
    [ -z "$containers" ] || docker rm --force --volumes $containers > /dev/null
    docker network prune --force > /dev/null
    docker volume prune --all --force > /dev/null
    docker image ls --format '{{.Repository}}:{{.Tag}}' iln-stream |
      xargs --no-run-if-empty docker image rm > /dev/null
    docker image prune --force > /dev/null
  fi
  if pid=$(cat "$RUN/pid" 2> /dev/null) && command_line "$pid" | grep -qF -- "--pidfile $RUN/pid"; then
    kill "$pid"
    wait_for 30 has_ended "$pid" || kill -9 "$pid"
  fi
  end_orphans
  restore_machine
  rm -rf --one-file-system "$RUN"
  say "engine stopped, its traces undone"
)

# Processes that outlive a killed dockerd: containerd and its shims, found by the path in their command
# line, and the containers' processes, found by the control groups of the containers in our data.
end_orphans() {
  local process container
  for process in /proc/[0-9]*; do
    if command_line "${process#/proc/}" | grep -Eq "^[^ ]*containerd(-shim[^ ]*)? .*$RUN/exec"; then
      kill "${process#/proc/}" 2> /dev/null || true
    fi
  done
  for container in "$CACHE"/data/containers/*/; do
    [ -d "$container" ] || continue
    wait_for 5 end_container "$(basename "$container")" || true
  done
}

end_container() { # true if it has no process
  local processes
  processes=$(find /sys/fs/cgroup -path "*/docker/$1/cgroup.procs" -exec cat {} + 2> /dev/null | sort -u)
  # shellcheck disable=SC2086
  [ -z "$processes" ] || { kill -9 $processes; false; }
}

command_line() { { tr '\0' ' ' < "/proc/$1/cmdline"; } 2> /dev/null || true; }
has_ended() { [ -z "$(command_line "$1")" ]; } # also true for a zombie
