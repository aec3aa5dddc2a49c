import { answers, boot, copyTo, onDebian, openShell, ROOT, run, toldIn } from './machine.ts';
import { printTable } from './load.ts';
import { blocksOf } from './page.ts';
import { EXAMINED, goLive, startNamedService, withoutRoot } from './live.ts';
import type { Stage } from './stage.ts';

const PAGE = 'debian.md';

/** Follows docs/debian.md in a root folder of Debian 13, block by block, as an administrator types it as root. */
export const debian = (stage: Stage): Promise<boolean> =>
  onDebian(
    stage,
    () => {
      run('npm', ['run', '--silent', 'bundle'], ROOT);
    },
    follow,
  );

async function follow(stage: Stage, root: string): Promise<boolean> {
  copyTo(root, ROOT);
  const serviceUrl = await startNamedService(stage);
  const machine = openShell(root, await boot(stage, root));
  stage.later(() => machine.child.kill('SIGKILL'));
  const type = (heading: string): Promise<string> => machine.type(blocksOf(PAGE, heading).join('\n'));
  await machine.type(answers(serviceUrl) + WORDS + OURS);
  await type('A database');
  await type('The environment');
  await machine.type('echo DEMO_SHOP=on >> /etc/integrator/env');
  await type('A version in its place');
  await type('The first start');
  await machine.type(SEEN);
  await machine.type(buyAt(serviceUrl));
  await machine.type(KEPT);
  await type('Each day');

  await machine.type(LATER);
  await type('A version in its place');
  await type('A later version, and the way back');
  await machine.type('tell "after the update a node says" "$(running)"');
  await machine.type('ln -sfn "$first" /opt/integrator');
  await type('A later version, and the way back');
  await machine.type('tell "after the way back a node says" "$(running)"');
  await machine.type(buyAt(serviceUrl));
  await type('Backup');
  await machine.type(RESTORED);
  await type('When the database is lost');
  await machine.type('systemctl start integrator-server@3001 integrator-server@3002 integrator-worker@1');
  await machine.type(READY);
  await machine.type(buyAt(serviceUrl));
  await goLive(stage, machine, serviceUrl, () => type('A later version, and the way back'));
  await machine.type(buyAt(serviceUrl));
  await machine.type(EXAMINED);
  await withoutRoot(root, machine, blocksOf(PAGE, 'Without root').join('\n'), serviceUrl);
  await machine.type(buyAt(serviceUrl));
  await type('All of it away');
  const said = await machine.type(LEFT);
  const rows = toldIn(said);
  printTable('docs/debian.md, typed on a Debian 13 of its own', rows);
  const wanted: Record<string, string> = {
    '/healthz, /readyz through nginx': '200, 200',
    'http, a webhook over http': '301, 403',
    'a purchase ends as': 'paid',
    'a node is': 'integrator, capabilities 0, filters of system calls 2, / ro /var/lib/integrator rw ',
    'killed, stopped, misconfigured': 'started again 1 time, stopped: success, failed: 78',
    'the timer of the backup': 'success, 1 dump',
    'after the update a node says': 'later',
    'after the way back a node says': '/usr/bin/node',
    'the restored backup has paid orders': '2 of 2',
    'doctor in live mode': '0, All is well.',
    'go-live in live mode': '0, All is well.',
    'units of a user, after a start of its systemd': 'active',
    'left when all is away': '0 files, 0 users, 0 roles',
  };
  return Object.entries(wanted).every(([name, value]) => rows[name] === value);
}

/** With which the machine answers us. */
const WORDS = `
  status() { curl -s -o /dev/null -w '%{http_code}' "$@"; }
  shown() { systemctl show --property "$1" --value "integrator-$2"; }
  running() { for unit in server@3001 server@3002 worker@1; do
    tr '\\0' ' ' < "/proc/$(shown MainPID $unit)/cmdline" | cut -d ' ' -f 1
  done | uniq; }
`;

/** What is the shop's in its bundle: without a name of its own it does not go live. */
const OURS = `
  sed -i "s/identity = null/identity = { name: 'The Lamp Shop', helpEmail: 'help@lamps.example' }/" /root/bundle/dist/custom/identity.js
`;

const READY = `curl -fsS --retry 60 --retry-all-errors --retry-delay 1 -o /dev/null "https://$domain/readyz"`;

const SEEN = `
  tell '/healthz, /readyz through nginx' "$(status "https://$domain/healthz"), $(status "https://$domain/readyz")"
  tell 'http, a webhook over http' "$(status "http://$domain/"), $(status -X POST "http://$domain/webhooks/payments")"
  node=/proc/$(shown MainPID server@3001)
  said() { sed -n "s/^$1:\t0*\\(.\\)/\\1/p" "$node/status"; }
  tell 'a node is' "$(stat -c %U "$node"), capabilities $(said CapEff), filters of system calls $(said Seccomp), $(awk '$5 ~ "^/(var/lib/integrator)?$" { printf "%s %s ", $5, substr($6, 1, 2) }' "$node/mountinfo")"
  tell 'a node says' "$(running)"
  first=$folder
`;

/** What systemd does by the units: one process is killed, one stopped, one misconfigured, and the night comes at once. */
const KEPT = `
  kill -KILL "$(shown MainPID worker@1)"
  until [ "$(shown NRestarts worker@1)" = 1 ]; do sleep 0.2; done
  systemctl stop integrator-server@3002
  stopped=$(shown Result server@3002)
  mkdir /run/systemd/system/integrator-server@3002.service.d /run/systemd/system/integrator-backup.timer.d
  printf '[Service]\nEnvironment=PORT=none\n' > /run/systemd/system/integrator-server@3002.service.d/wrong.conf
  printf '[Timer]\nOnCalendar=*:*:0/5\nAccuracySec=1s\n' > /run/systemd/system/integrator-backup.timer.d/soon.conf
  systemctl daemon-reload
  systemctl start integrator-server@3002
  systemctl restart integrator-backup.timer
  until [ "$(shown ActiveState server@3002)" = failed ]; do sleep 0.2; done
  tell 'killed, stopped, misconfigured' "started again $(shown NRestarts worker@1) time, stopped: $stopped, failed: $(shown ExecMainStatus server@3002)"
  until ls /var/lib/integrator-backup/*.dump >/dev/null 2>&1; do sleep 0.2; done
  rm -r /run/systemd/system/integrator-{server@3002.service,backup.timer}.d
  systemctl daemon-reload
  systemctl restart integrator-backup.timer integrator-server@3002
  tell 'the timer of the backup' "$(shown Result backup), $(ls /var/lib/integrator-backup/*.dump | wc -l) dump"
  for unit in server@3001 worker@1 backup; do
    tell "systemd-analyze security of $unit" "$(systemd-analyze security --no-pager "integrator-$unit.service" | sed -n 's/.*exposure level for .*: \\([0-9.]*\\) .*/\\1/p')"
  done
  ${READY}
`;

const buyAt = (serviceUrl: string): string => `
  order=$(curl -fsS "https://$domain/checkout" -H 'content-type: application/json' \\
    -d '{"email": "ada@example.com", "items": [{"sku": "ankara-tote", "quantity": 1}]}')
  field() { sed "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/"; }
  curl -fsS -o /dev/null -X POST "${serviceUrl}/sandbox/transactions/$(field reference <<<"$order")/pay"
  for try in $(seq 300); do
    state=$(curl -fsS "https://$domain/orders/$(field orderId <<<"$order")" | field status)
    [ "$state" != paid ] || break
    sleep 0.2
  done
  tell 'a purchase ends as' "$state"
`;

/** A later bundle, whose processes say so in their title. */
const LATER = `
  sed -i '1i process.title = "later";' /root/bundle/dist/server.js /root/bundle/dist/worker.js
`;

const RESTORED = `
  tell 'the restored backup has paid orders' "$(runuser -u postgres -- psql -At restored -c \\
    "SELECT count(*) FILTER (WHERE status = 'paid') || ' of ' || count(*) FROM orders")"
`;

const LEFT = `
  tell 'left when all is away' "$(find /etc /opt /var/lib -path /var/lib/systemd -prune -o -name '*integrator*' -print | wc -l) files, $(getent passwd integrator | wc -l) users, $(runuser -u postgres -- psql -Atc "SELECT count(*) FROM pg_roles WHERE rolname = 'integrator'") roles"
`;
