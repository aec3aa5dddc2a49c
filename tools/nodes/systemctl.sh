#!/bin/bash
# Stands in for systemctl in a root folder, where no systemd runs: starts what a unit says, as its user, with its environment
# alone, on a root that is read-only but for its state folder. What is narrower in a unit (system calls, address families)
# is only read, by `systemd-analyze verify`. Runs in a namespace of processes of its own and ends with it.
set -euo pipefail

setting() { sed -n "s/^$2=//p" "$1" | sed "s/%i/$instance/g; s/%%/%/g; s/\\\$\\\$/\$/g"; }

launch() {
  local user state folder environment
  user=$(setting "$file" User)
  state=/var/lib/$(setting "$file" StateDirectory)
  folder=$(setting "$file" WorkingDirectory)
  environment=$(setting "$file" EnvironmentFile)
  install -d -m "$(setting "$file" StateDirectoryMode)" -o "$user" -g "$user" "$state"
  umask "$(setting "$file" UMask)"
  # shellcheck disable=SC2016,SC2046
  exec env -i PATH=/usr/bin:/bin HOME="$state" $(setting "$file" Environment) unshare --mount --propagation private bash -ec '
    mount --bind "$1" "$1" && mount -o remount,bind,ro / && mount -t tmpfs tmpfs /tmp
    if [ -n "$2" ]; then set -a && . "$2" && set +a; fi
    cd "$3" && exec setpriv --reuid "$4" --regid "$4" --clear-groups --no-new-privs \
      --bounding-set=-all --inh-caps=-all sh -c "exec $5"
  ' launch "$state" "$environment" "$folder" "$user" "$1"
}

start() {
  if [ "$(setting "$file" Type)" = oneshot ]; then
    while read -r line; do (launch "$line" </dev/null); done < <(setting "$file" ExecStart)
  else
    (launch "$(setting "$file" ExecStart)") >>"/var/log/$unit.log" 2>&1 </dev/null &
    echo $! >"/run/$unit.pid"
  fi
}

stop() {
  [ -e "/run/$unit.pid" ] || return 0
  local pid
  pid=$(cat "/run/$unit.pid")
  kill "$pid"
  timeout "$(setting "$file" TimeoutStopSec)" tail --pid="$pid" -f /dev/null || kill -KILL "$pid"
  rm "/run/$unit.pid"
}

verb=$1
shift
[ "${1:-}" != --now ] || shift
if [ "$verb" = daemon-reload ]; then
  # Its words about units that are not of ours, and about a system that did not boot, are no fault of ours.
  said=$(systemd-analyze verify /etc/systemd/system/integrator-{server@3001,worker@1,backup}.service \
    /etc/systemd/system/integrator-backup.timer 2>&1) || true
  ! grep integrator <<<"$said"
fi
for unit in "$@"; do
  instance=${unit#*@}
  file=/etc/systemd/system/${unit/@*/@}
  [[ $unit == *.* ]] || file+=.service
  case $unit in
    postgresql) pg_ctlcluster "$(ls /etc/postgresql | grep -x '[0-9]*')" main "${verb/enable/start}" ;;
    nginx) nginx -t -q && if [ -s /run/nginx.pid ]; then nginx -s reload; else nginx; fi ;;
    *.timer) test -e "$file" ;;
    *)
      case $verb in stop | restart) stop ;; esac
      [ "$verb" = stop ] || start
      ;;
  esac
done
