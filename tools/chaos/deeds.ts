import { ask } from './ask.ts';
import { pause } from './child.ts';
import type { PLAIN_KINDS } from './plan.ts';
import type { Opened } from './shoppers.ts';
import { command, migrateToNext, upgrade } from './versions.ts';
import type { World } from './world.ts';

const [HOUR_SEC, DAY_SEC] = [3_600, 86_400];

/** Where it happens, and to which of the orders that were opened so far. */
type Here = { world: World; opened: readonly Opened[] };

/** Faults of the database, the service or the clients. Each throws when it could not be. */
export const DEEDS: Record<(typeof PLAIN_KINDS)[number], (here: Here, ms: number) => Promise<unknown>> = {
  'postgres-restart': ({ world }) => world.postgres.restart(),
  'postgres-crash': ({ world }) => world.postgres.crash(),
  'backend-killed': async ({ world }) => {
    if (!(await world.postgres.killBackend(world.databaseUrl))) throw new Error('there was no session');
  },
  'table-locked': ({ world }, ms) =>
    ask(
      world.databaseUrl,
      `DO $$ BEGIN LOCK TABLE payments IN ACCESS EXCLUSIVE MODE; PERFORM pg_sleep(${(2 * ms) / 1_000}); END $$`,
    ),
  'read-only': ({ world }, ms) => world.postgres.readOnly(world.databaseUrl, ms),
  'connections-taken': ({ world }, ms) => world.postgres.takeConnections(ms),
  'disk-full': ({ world }, ms) => world.postgres.fillDisk(world.databaseUrl, ms, ms % 2 === 1),
  'disk-slow': ({ world }, ms) => world.postgres.slowDisk(3 * ms),
  'database-clock': ({ world }, ms) => world.postgres.jumpBack(ms % 2 === 1 ? HOUR_SEC : DAY_SEC, 2 * ms),
  migration: ({ world }) => command(world, 'migrate'),
  'next-migration': ({ world }) => migrateToNext(world.databaseUrl),
  upgrade: ({ world }) => upgrade(world),
  reconciliation: ({ world }) => command(world, 'reconcile', '--json'),
  'service-stopped': async ({ world }, ms) => {
    world.service.process.signal('SIGSTOP');
    await pause(ms);
    world.service.process.signal('SIGCONT');
  },
  outage: async ({ world }, ms) => {
    await world.hand('outage', { status: 503 });
    await pause(ms);
    await world.hand('outage', { status: null });
  },
  'key-refused': async ({ world }, ms) => {
    await world.hand('keys/refuse', { refuse: true });
    await pause(ms);
    await world.hand('keys/refuse', { refuse: false });
  },
  'hint-storm': ({ world, opened }) =>
    Promise.all(
      opened
        .slice(-4)
        .flatMap(({ reference }) =>
          Array.from({ length: 12 }, (_none, at) =>
            at % 2 === 0
              ? world.webhook(reference, 'SUCCESS')
              : world.call('GET', `/checkout/return/${reference}`),
          ),
        ),
    ),
  'forged-webhooks': ({ world, opened }) =>
    Promise.all([
      ...opened
        .slice(-4)
        .flatMap(({ reference }) => [
          world.webhook(reference, 'SUCCESS', 'whsec_of_somebody_else'),
          world.webhook(reference, 'FAILED'),
        ]),
      world.webhook('n0b0dy'.repeat(4), 'SUCCESS'),
    ]),
  'hostile-requests': ({ world, opened }) =>
    Promise.all([
      world.call('POST', '/checkout', '{"email": "<script>alert(1)</script>", "items": [{'),
      world.call('POST', '/checkout', {
        email: 'a@example.com',
        amount: 1,
        items: [{ sku: 'bissap', quantity: 1 }],
      }),
      world.call('POST', '/checkout', {
        email: 'a@example.com',
        items: [{ sku: "' OR 1=1 --", quantity: 1 }],
      }),
      world.call('POST', '/webhooks/payments', 'x'.repeat(200_000)),
      world.call('GET', '/checkout/return/..%2f..%2fetc'),
      world.call('GET', `/orders/${'x'.repeat(24)}`),
      world.call('GET', `/orders/${opened.at(-1)?.orderId ?? 'nobody'}?orderId=a&orderId=b`),
      world.call('GET', '/metrics', undefined, { 'x-forwarded-for': '8.8.8.8' }),
    ]),
};
