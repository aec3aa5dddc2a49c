import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { Agent } from 'undici';
import { startReleaseReceiver } from '../../test/support/release-receiver.ts';
import { handsOf } from './hands.ts';
import { startLife } from './life.ts';
import { printTable } from './load.ts';
import {
  answers,
  boot,
  copyTo,
  DOMAIN,
  onDebian,
  openShell,
  ROOT,
  run,
  toldIn,
  type Shell,
} from './machine.ts';
import { blocksOf } from './page.ts';
import { brokenBy, isQuiet } from './restored.ts';
import { productionEnv, startService, until, type Stage } from './stage.ts';

const [, , , FROM = 'v0.3.0'] = process.argv;
const TOKEN = 'a-long-shop-token';
/** So many orders begin before each change, and after the last. */
const ORDERS = 15;
/** The receiver fails every seventh delivery: one that fails three times waits two minutes for its fourth. */
const LIMIT_MS = 300_000;

/**
 * A shop installed from an earlier tag, by that tag's own docs/debian.md, takes this checkout's version while
 * orders run, goes back and takes it again, each by the words of the page.
 */
export const update = (stage: Stage): Promise<boolean> =>
  onDebian(
    stage,
    (folder) => {
      const older = olderIn(folder);
      mkdirSync(older);
      run(
        'sh',
        ['-c', 'git rev-parse -q --verify "$1^{commit}" || { echo "$2"; exit 1; }', 'sh', FROM, NO_TAG],
        ROOT,
      );
      run('sh', ['-c', 'git archive "$1" | tar -x -C "$2"', 'sh', FROM, older], ROOT);
      run('npm', ['ci', '--silent'], older);
      for (const checkout of [older, ROOT]) run('npm', ['run', '--silent', 'bundle'], checkout);
    },
    follow,
  );

const NO_TAG = `the tag ${FROM} is not in this clone: git fetch --tags upstream (or origin)`;
const olderIn = (folder: string): string => join(folder, 'older');

async function follow(stage: Stage, root: string): Promise<boolean> {
  const receiver = await startReleaseReceiver();
  stage.later(receiver.close);
  const serviceUrl = await startService(stage, 'http://127.0.0.1:3001/webhooks/payments');
  const machine = openShell(root, await boot(stage, root));
  stage.later(() => machine.child.kill('SIGKILL'));
  await install(machine, root, serviceUrl, receiver.env);
  const life = startLife({
    ...{ url: `https://${DOMAIN}`, serviceUrl, token: TOKEN, shoppers: 2, prefix: 'A' },
    dispatcher: wayTo(root),
  });
  stage.later(life.stop);
  const said = await changeVersions(machine, root, async () => {
    await life.reaches(life.orders.length + ORDERS);
    return life.orders.length;
  });
  await life.stop();
  const remembered = {
    ...{ postgres: openPostgres(stage, root), serviceUrl, orders: life.orders, decided: new Array<string>() },
    ...{ deliveries: receiver.deliveries, lost: { from: new Date(0), to: new Date(0) } },
  };
  await until('all is confirmed and shipped', () => isQuiet(remembered), LIMIT_MS);
  const hands = handsOf({ ...productionEnv(remembered.postgres.url, serviceUrl), ...receiver.env });
  await hands.reconcile();
  remembered.decided.push(...(await hands.decide('refund')));
  await hands.resolveFindings();
  const { verdict } = await hands.reconcile();
  const rows = toldIn(said);
  printTable(`${FROM} is updated to this checkout while orders run, goes back, and is updated again`, {
    ...rows,
    'requests that failed': life.failures.length,
    ...Object.fromEntries(life.failures.map((words, n) => [`failure ${n + 1}`, words.slice(0, 150)])),
    'nginx answered': answered(root),
    'reconcile at the end': verdict,
  });
  const broken = Object.entries(await brokenBy(remembered));
  for (const [what, lines] of broken)
    process.stdout.write(`${[`  ${what}: ${lines.length}`, ...lines].join('\n    ')}\n`);
  const isBack = versionIn(rows['at first']) === versionIn(rows.back);
  const isLater = versionIn(rows.updated) !== versionIn(rows.back);
  const isUnnoticed = life.failures.length === 0;
  return (
    isBack &&
    isLater &&
    isUnnoticed &&
    verdict === 'agreed' &&
    broken.every(([, lines]) => lines.length === 0)
  );
}

/** How many requests but the page's own, by status. */
function answered(root: string): string {
  const lines = readFileSync(join(root, 'var/log/nginx/access.log'), 'utf8').split('\n');
  const counts: Record<string, number> = {};
  for (const line of lines.filter((each) => !each.includes(' /readyz '))) {
    const [, status] = /" (\d{3}) /.exec(line) ?? [];
    if (status !== undefined) counts[status] = (counts[status] ?? 0) + 1;
  }
  return Object.entries(counts)
    .map(([status, count]) => `${count} times ${status}`)
    .join(', ');
}

const versionIn = (told = ''): string | undefined => told.split(', ')[0];

/** By the page of the tag itself. */
async function install(
  machine: Shell,
  root: string,
  serviceUrl: string,
  receiver: Record<string, string>,
): Promise<void> {
  const older = olderIn(join(root, '..'));
  const type = (heading: string): Promise<string> =>
    machine.type(blocksOf('debian.md', heading, 'sh', join(older, 'docs')).join('\n'));
  copyTo(root, older);
  await machine.type(answers(serviceUrl));
  await type('A database');
  await type('The environment');
  const more = Object.entries({ ...receiver, SHOP_API_TOKEN: TOKEN, CHECKOUTS_PER_MINUTE: '0' });
  await machine.type(`printf '%s\\n' ${more.map((pair) => pair.join('=')).join(' ')} >> /etc/integrator/env`);
  await type('A version in its place');
  await type('The first start');
}

/**
 * Forward, back and forward again by the page of this checkout, while orders run. @returns what the machine
 * said
 */
async function changeVersions(
  machine: Shell,
  root: string,
  ordersRun: () => Promise<number>,
): Promise<string> {
  const type = (heading: string): Promise<string> => machine.type(blocksOf('debian.md', heading).join('\n'));
  const see = async (when: string): Promise<string> => machine.type(SEEN(when, await ordersRun()));
  await machine.type('first=$folder');
  await see('at first');
  copyTo(root, ROOT);
  await type('A version in its place');
  await type('A later version, and the way back');
  await machine.type('later=$folder');
  await see('updated');
  await machine.type('ln -sfn "$first" /opt/integrator');
  await type('A later version, and the way back');
  await see('back');
  await machine.type(RECONCILED);
  await machine.type('ln -sfn "$later" /opt/integrator');
  await type('A later version, and the way back');
  return see('updated again');
}

/** To nginx of the machine, whose certificate only the machine knows. */
function wayTo(root: string): Agent {
  const ca = readFileSync(join(root, `etc/ssl/${DOMAIN}.pem`));
  return new Agent({
    connect: {
      ca,
      lookup: (_host, _options, found) => {
        found(null, [{ address: '127.0.0.1', family: 4 }]);
      },
    },
  });
}

/**
 * The version whose folder runs, the migrations of the database, and what the journal holds at warn and
 * above.
 */
const SEEN = (when: string, orders: number): string => `
  tell '${when}' "$(node -p 'require("/opt/integrator/package.json").version'), $(runuser -u postgres -- psql -At integrator -c 'SELECT count(*) FROM _prisma_migrations') migrations, ${orders} orders, $(journalctl -u 'integrator-*' -o cat | grep -cE '"level":"?(warn|error|fatal|[456]0)"?' || true) log lines at warn or above"
`;

/** By the older program on the newer schema; 1 is differences, which underpayments are. */
const RECONCILED = `
  cd /opt/integrator
  code=0
  runuser -u integrator -- npm run --silent reconcile > /root/reconciled 2>&1 || code=$?
  tell 'reconcile of the older program' "$code, $(grep -oE '^[A-Z ]+\\.' /root/reconciled | head -n 1)"
`;

/** The machine's PostgreSQL, by the address of its environment. */
function openPostgres(stage: Stage, root: string): Parameters<typeof isQuiet>[0]['postgres'] {
  const env = readFileSync(join(root, 'etc/integrator/env'), 'utf8');
  const url = (/^DATABASE_URL="(.*)"$/m.exec(env)?.[1] ?? '').replace(
    '/etc/postgresql',
    join(root, 'etc/postgresql'),
  );
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  stage.later(() => pool.end());
  return {
    url,
    query: async <Row extends pg.QueryResultRow>(sql: string, values?: unknown[]) =>
      (await pool.query<Row>(sql, values)).rows,
  };
}
