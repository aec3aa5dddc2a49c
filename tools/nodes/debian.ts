import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SANDBOX_TEST_KEY, SANDBOX_WEBHOOK_SECRET } from '../../local/sandbox/keys.ts';
import { printTable } from './load.ts';
import { blocksOf } from './page.ts';
import { needProgram, startService, until, type Stage } from './stage.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = 'debian.md';
const DOMAIN = 'shop.example.com';
/** What every installed Debian has; the page installs the rest. */
const BASE = 'ca-certificates,systemd';
/** What the machine says about itself on the way: `name=value` lines. */
const TOLD = /^told (.+?)=(.*)$/gm;
const BLOCK_LIMIT_MS = 180_000;

/**
 * Follows docs/debian.md in a root folder of Debian 13, block by block, as somebody who types it as root. Needs root. The
 * first round makes the folder and installs packages; the second, in namespaces of its own, has every port for itself.
 */
export async function debian(stage: Stage): Promise<boolean> {
  if (process.getuid?.() !== 0) throw new Error('a machine is made by root: sudo npm run nodes -- debian');
  const [, , , made] = process.argv;
  if (made !== undefined) return follow(stage, made);
  needProgram('mmdebstrap', 'mmdebstrap debian-archive-keyring');
  const root = join(stage.folder, 'debian');
  run('npm', ['run', '--silent', 'bundle'], ROOT);
  run('mmdebstrap', ['--quiet', '--variant=minbase', `--include=${BASE}`, 'trixie', root], stage.folder);
  cpSync('/etc/resolv.conf', join(root, 'etc/resolv.conf'));
  // Nothing starts by itself while packages are installed.
  writeFileSync(join(root, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  const packages = blocksOf(PAGE, 'Packages').join('\n');
  run('chroot', [root, 'env', 'DEBIAN_FRONTEND=noninteractive', 'bash', '-ec', packages], stage.folder);
  for (const part of ['bundle', 'deploy'])
    cpSync(join(ROOT, part), join(root, 'root', part), { recursive: true });
  cpSync(join(ROOT, 'tools/nodes/systemctl.sh'), join(root, 'usr/local/bin/systemctl'));
  const apart = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1), root];
  const part = stage.start('follow', 'unshare', [...apart, ...again], { cwd: ROOT, stdio: 'inherit' });
  return (await part.ended) === 0;
}

async function follow(stage: Stage, root: string): Promise<boolean> {
  run('ip', ['link', 'set', 'lo', 'up'], root);
  const serviceUrl = await startService(stage, 'http://127.0.0.1:3001/webhooks/payments');
  const machine = openShell(root);
  stage.later(() => machine.child.kill('SIGKILL'));
  const type = (heading: string): Promise<string> => machine.type(blocksOf(PAGE, heading).join('\n'));
  await machine.type(answers(serviceUrl));
  await machine.type('systemctl enable --now postgresql');
  await type('A database');
  await type('The environment');
  await machine.type('echo DEMO_SHOP=on >> /etc/integrator/env');
  await type('A version in its place');
  await type('The first start');
  await machine.type(SEEN);
  await machine.type(buyAt(serviceUrl));
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
  const said = await machine.type(buyAt(serviceUrl));
  const rows = Object.fromEntries([...said.matchAll(TOLD)].map(([, name = '', value = '']) => [name, value]));
  printTable('docs/debian.md, typed on a Debian 13 of its own', rows);
  const wanted: Record<string, string> = {
    '/healthz, /readyz through nginx': '200, 200',
    'http, a webhook over http': '301, 403',
    'a purchase ends as': 'paid',
    'a node is': 'integrator, capabilities 0, / ro /var/lib/integrator rw ',
    'after the update a node says': 'later',
    'after the way back a node says': '/usr/bin/node',
    'the restored backup has paid orders': '2 of 2',
  };
  return Object.entries(wanted).every(([name, value]) => rows[name] === value);
}

/** What the page calls yours, and the words with which the machine answers us. */
function answers(serviceUrl: string): string {
  return `
    domain=${DOMAIN} gateway_url=${serviceUrl} gateway_key=${SANDBOX_TEST_KEY} webhook_secret=${SANDBOX_WEBHOOK_SECRET}
    echo "127.0.0.1 localhost $domain" > /etc/hosts
    openssl req -x509 -newkey rsa:2048 -noenc -days 1 -subj "/CN=$domain" -addext "subjectAltName=DNS:$domain" \\
      -keyout "/etc/ssl/private/$domain.key" -out "/etc/ssl/$domain.pem" 2>/dev/null
    cat "/etc/ssl/$domain.pem" >> /etc/ssl/certs/ca-certificates.crt
    tell() { echo "told $1=$2"; }
    status() { curl -s -o /dev/null -w '%{http_code}' "$@"; }
    running() { for pid in /run/integrator-*.pid; do
      tr '\\0' ' ' < "/proc/$(cat "$pid")/cmdline" | cut -d ' ' -f 1
    done | uniq; }
  `;
}

const READY = `curl -fsS --retry 60 --retry-all-errors --retry-delay 1 -o /dev/null "https://$domain/readyz"`;

const SEEN = `
  tell '/healthz, /readyz through nginx' "$(status "https://$domain/healthz"), $(status "https://$domain/readyz")"
  tell 'http, a webhook over http' "$(status "http://$domain/"), $(status -X POST "http://$domain/webhooks/payments")"
  node=/proc/$(cat /run/integrator-server@3001.pid)
  tell 'a node is' "$(stat -c %U "$node"), capabilities $(sed -n 's/^CapEff:\t0*\\(.\\)/\\1/p' "$node/status"), $(awk '$5 ~ "^/(var/lib/integrator)?$" { printf "%s %s ", $5, substr($6, 1, 2) }' "$node/mountinfo")"
  tell 'a node says' "$(running)"
  first=$folder
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

type Shell = {
  child: ChildProcess;
  /** Types a block and waits for its end. @returns what all blocks said so far @throws when a command of it fails */
  type(block: string): Promise<string>;
};

/** A terminal of root on the machine: variables and the folder stay from block to block, and the first failure ends it. */
function openShell(root: string): Shell {
  run('mount', ['--bind', root, root], '/');
  run('mount', ['--rbind', '/dev', join(root, 'dev')], '/');
  run('mount', ['-t', 'proc', 'proc', join(root, 'proc')], '/');
  const env = { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' };
  const child = spawn('chroot', [root, 'bash', '-e', '-o', 'pipefail'], { cwd: '/', env });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  let blocks = 0;
  return {
    child,
    type: async (block) => {
      const end = `block ${++blocks} is done`;
      writeFileSync(join(root, 'root/block.sh'), block);
      child.stdin.write(`. /root/block.sh </dev/null\necho '${end}'\n`);
      await until(
        end,
        () => Promise.resolve(child.exitCode !== null || said.includes(end)),
        BLOCK_LIMIT_MS,
      ).catch(() => child.kill('SIGKILL'));
      if (!said.includes(end))
        throw new Error(`${block}\n--- ended, and said at last:\n${said.slice(-4_000)}`);
      return said;
    },
  };
}

/** @throws with what it said when it fails */
function run(program: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (status === 0) return;
  throw error ?? new Error(`${program} ${args.join(' ')}\n${stdout.slice(-2_000)}${stderr.slice(-2_000)}`);
}
