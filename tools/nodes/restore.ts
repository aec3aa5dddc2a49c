import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startReleaseReceiver } from '../../test/support/release-receiver.ts';
import { handsOf } from './hands.ts';
import { startLife } from './life.ts';
import { printTable } from './load.ts';
import { openPatroni } from './patroni-restore.ts';
import { openPgBackRest } from './pgbackrest.ts';
import { recover, type Timed } from './recover.ts';
import { openDump, openPointInTime, type Restorable } from './restorable.ts';
import { brokenBy, isQuiet } from './restored.ts';
import { freePort, productionEnv, startServer, startService, until, type Part, type Stage } from './stage.ts';

const TOKEN = 'a-long-shop-token';
const LIMIT_MS = 120_000;
/** That many orders begin before the moment, between it and the loss, and after the restore. */
const ORDERS = 15;

type Way = { name: string; open(stage: Stage, folder: string): Promise<Restorable> };

const WAYS: readonly Way[] = [
  { name: 'to a point in time', open: openPointInTime },
  { name: 'from a dump', open: openDump },
  { name: 'with pgBackRest', open: openPgBackRest },
];

/** A shop on Debian's PostgreSQL loses its database while orders run, and does what docs/operations.md says. */
export async function restore(stage: Stage): Promise<boolean> {
  const ends: boolean[] = [];
  for (const way of WAYS) ends.push(await rehearse(stage, way));
  return ends.every(Boolean);
}

/** The same on the three machines of docs/high-availability.md, which are lost at once. */
export const restorePatroni = (stage: Stage): Promise<boolean> =>
  rehearse(stage, { name: 'with Patroni', open: openPatroni });

async function rehearse(stage: Stage, way: Way): Promise<boolean> {
  const folder = join(stage.folder, way.name.replaceAll(' ', '-'));
  mkdirSync(folder);
  chmodSync(folder, 0o777);
  const postgres = await way.open(stage, folder);
  const receiver = await startReleaseReceiver();
  stage.later(receiver.close);
  const { deliveries } = receiver;
  const front = await freePort();
  const serviceUrl = await startService(stage, `http://127.0.0.1:${front}/webhooks/payments`);
  const env = { ...productionEnv(postgres.url, serviceUrl), ...receiver.env, SHOP_API_TOKEN: TOKEN };
  const shop = { serviceUrl, token: TOKEN, shoppers: 2, url: `http://127.0.0.1:${front}` };
  const hands = handsOf(env);
  const seconds: Record<string, string> = {};
  const timed: Timed = async (name, work) => {
    const beganMs = performance.now();
    const result = await work();
    seconds[`seconds: ${name}`] = ((performance.now() - beganMs) / 1_000).toFixed(1);
    return result;
  };
  const refundOne = async (): Promise<string[]> => {
    const oldest = async (): Promise<string | undefined> => (await hands.list('suspense'))[0]?.reference;
    await until('money is in suspense', async () => (await oldest()) !== undefined, LIMIT_MS);
    return hands.decide('refund', [(await oldest()) ?? '']);
  };

  // Orders run, a person decides, and a moment passes that nobody notices.
  const startNodes = async (): Promise<Part[]> => [
    stage.node('worker', 'worker.js', env),
    await startServer(stage, env, front),
  ];
  const endNodes = async (nodes: Part[]): Promise<void> => {
    for (const part of nodes) await stage.end(part);
  };
  let nodes = await startNodes();
  const life = startLife({ ...shop, prefix: 'A' });
  stage.later(life.stop);
  await life.reaches(ORDERS / 2);
  await timed('backup', () => postgres.backUp());
  const decidedBefore = await refundOne();
  await life.reaches(ORDERS);
  const [clock] = await postgres.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  const from = clock?.now ?? new Date(0);
  const { save } = postgres;
  if (save) await timed('dump', save);
  const before = { orders: life.orders.length, deliveries: deliveries.length };
  const forgotten = await refundOne();
  await life.reaches(before.orders + ORDERS);
  await postgres.archived();
  await postgres.lose();
  await life.stop();
  await endNodes(nodes);
  const lost = { from, to: new Date() };
  const deliveriesBetween = deliveries.length - before.deliveries;

  await timed('restore', () => postgres.restore(from));
  const wreck = { stage, postgres, hands, env, token: TOKEN, deliveries, from, forgotten, timed };
  const recovered = await recover({ ...wreck, orders: life.orders });
  const { said, repaired, decidedAgain, placedAgain, adopted } = recovered;

  // Orders run again, and a person empties the lists.
  nodes = await startNodes();
  const newLife = startLife({ ...shop, prefix: 'B' });
  stage.later(newLife.stop);
  await newLife.reaches(ORDERS);
  await newLife.stop();
  const orders = [...life.orders, ...newLife.orders];
  const remembered = {
    postgres,
    serviceUrl,
    orders,
    deliveries,
    lost,
    decided: [...decidedBefore, ...forgotten],
  };
  await timed('all confirmed and shipped', () =>
    until('all is confirmed and shipped', () => isQuiet(remembered), LIMIT_MS),
  );
  await hands.reconcile();
  remembered.decided.push(...(await hands.decide('refund')));
  await hands.resolveFindings();
  const { verdict } = await timed('reconcile at the end', hands.reconcile);
  const broken = await brokenBy(remembered);
  await endNodes(nodes);
  printTable(`A database is lost and restored: ${way.name}`, {
    'it says': /^The newest .*/m.exec(said)?.[0] ?? 'nothing',
    'the moment': from.toISOString(),
    'orders begun before, between, after': [
      before.orders,
      life.orders.length - before.orders,
      newLife.orders.length,
    ].join(', '),
    'deliveries between': deliveriesBetween,
    'orders lost, and placed again': placedAgain.length,
    'payments confirmed by reconcile': repaired,
    'payments lost, and adopted': adopted.length,
    'orders lost, shipped and without a number': life.orders.filter(({ isKept }) => isKept).length,
    'decisions lost, and made again': decidedAgain.length,
    ...seconds,
    'reconcile at the end': verdict,
    ...Object.fromEntries(Object.entries(broken).map(([what, lines]) => [what, lines.length])),
  });
  for (const line of Object.entries(broken).flatMap(([what, lines]) =>
    lines.map((each) => `${what}: ${each}`),
  ))
    process.stdout.write(`  ${line}\n`);
  const isHarmless = Object.values(broken).every(({ length }) => length === 0);
  return isHarmless && verdict === 'agreed' && adopted.length > 0 && decidedAgain.length > 0;
}
