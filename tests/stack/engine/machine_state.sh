# Saves the machine's state before an engine changes it, and restores it afterwards.
# shellcheck shell=bash disable=SC2154

BEFORE=$RUN/before
MADE_FOLDERS="/etc/docker /opt/containerd /run/docker /run/containerd" # in spite of its configured roots

remember_machine() {
  local program
  mkdir -p "$BEFORE"
  cat /proc/sys/net/ipv4/ip_forward > "$BEFORE/ip_forward"
  for program in iptables ip6tables; do "$program-save" > "$BEFORE/$program" 2> /dev/null || true; done
  ls /sys/class/net > "$BEFORE/interfaces"
  # shellcheck disable=SC2086
  ls -d $MADE_FOLDERS > "$BEFORE/folders" 2> /dev/null || true
  docker_cgroups > "$BEFORE/cgroups"
  touch "$BEFORE/ok"
}

restore_machine() {
  local program folder
  [ -e "$BEFORE/ok" ] || return 0
  our_mounts | while read -r folder; do umount "$folder" || umount --lazy "$folder"; done
  for folder in /sys/class/net/{docker0,br-????????????,veth*}; do
    [ ! -e "$folder" ] || grep -qx "${folder##*/}" "$BEFORE/interfaces" || ip link delete "${folder##*/}" || true
  done
  for program in iptables ip6tables; do restore_rules "$program"; done
  cat "$BEFORE/ip_forward" > /proc/sys/net/ipv4/ip_forward
  docker_cgroups | while read -r folder; do
    grep -qxF "$folder" "$BEFORE/cgroups" || find "$folder" -depth -type d -exec rmdir {} + 2> /dev/null || true
  done
  for folder in $MADE_FOLDERS; do
    grep -qx "$folder" "$BEFORE/folders" || rm -rf --one-file-system "$folder"
  done
}

docker_cgroups() { find /sys/fs/cgroup -maxdepth 2 -type d -name docker; }

our_mounts() { # deepest first
  awk -v cache="$CACHE/" -v run="$RUN/" 'index($2, cache) == 1 || index($2, run) == 1 {print $2}' \
    /proc/mounts | sort --reverse
}

restore_rules() { # empties non-empty tables, then loads the saved ones
  local iptables=$1 table chain
  "$iptables-save" 2> /dev/null | sed -n 's/^\*//p' | while read -r table; do
    "$iptables" -t "$table" -S 2> /dev/null | awk '$1 == "-P" {print $2}' | while read -r chain; do
      "$iptables" -t "$table" -P "$chain" ACCEPT
    done
    "$iptables" -t "$table" -F
    "$iptables" -t "$table" -X
  done
  [ ! -s "$BEFORE/$iptables" ] || "$iptables-restore" < "$BEFORE/$iptables"
}
