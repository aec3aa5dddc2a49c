import type { Held } from '../test/support/stops.ts';
import type { Tally } from './tally.ts';
import { pause, startChild } from './child.ts';
import { ask } from './postgres.ts';
import { POINT_KINDS, type Fault, type Plan } from './plan.ts';
import { visit, type Opened } from './shoppers.ts';
import type { World } from './world.ts';

/** Longer than every lease. */
const BEYOND_A_LEASE_SEC = 31;
/** Whoever is free takes over what a paused process held. */
const TAKES_OVER_MS = 1_500;
/** A beat that takes longer is left to itself: nothing may wait for ever. */
const BEAT_MS = 30_000;

type Storm = { world: World; tally: Tally; isOver: boolean; opened: Opened[] };

/** Plays the plan: in each beat shoppers come while faults happen. */
export async function storm(world: World, plan: Plan, tally: Tally): Promise<void> {
  const now: Storm = { world, tally, isOver: false, opened: [] };
  for (const [at, beat] of plan.beats.entries()) {
    const faults = beat.faults.map((fault) => begin(now, fault));
    const visits = beat.shoppers.map(async (shopper, place) => {
      const order = await visit(world, shopper, `s${plan.seed}-${at}-${place}`);
      if (order !== null) now.opened.push(order);
    });
    await Promise.race([Promise.all([...faults, ...visits]), pause(BEAT_MS)]);
  }
  now.isOver = true;
}

async function begin(now: Storm, fault: Fault): Promise<void> {
  const { world, tally } = now;
  if (fault.kind === 'deck') {
    const set = (await world.hand('faults', { fault: fault.card, calls: fault.calls }).catch(() => null)) as {
      id: string;
    } | null;
    if (set !== null) tally.cards.set(set.id, fault);
    return;
  }
  if (isAtPoint(fault)) {
    arm(now, fault);
    return;
  }
  await pause(fault.ms);
  try {
    if ('target' in fault) await befallNode(now, fault);
    else await DEEDS[fault.kind](now, fault.ms);
    tally.fire(fault.kind);
  } catch (error) {
    // Another fault may stand in the way of this one: what cannot be done now has not happened.
    tally.missed(fault.kind, String(error));
  }
}

type PointFault = Extract<Fault, { at: object }>;

function isAtPoint(fault: Fault): fault is PointFault {
  return POINT_KINDS.some((kind) => kind === fault.kind);
}

function arm(now: Storm, fault: PointFault): void {
  const { world, tally } = now;
  const { kind, target, at, ms } = fault;
  const node = world.nodes[target];
  const deeds: Record<PointFault['kind'], (held: Held) => Promise<void> | void> = {
    'kill-at-point': async (held) => {
      held.silence();
      await node.kill();
      // Whoever is at the other end of what it held there sees it gone.
      held.cut();
    },
    'pause-at-point': () => node.standStill(() => timePasses(world)),
    'cut-at-point': (held) => {
      held.cut();
    },
    'half-open-at-point': (held) => {
      held.silence();
    },
    'slow-at-point': () => pause(ms),
  };
  node.sides[at.on]
    .once(at, async (held) => {
      if (now.isOver) return;
      tally.fire(kind, `${at.what} ${at.point}`);
      await deeds[kind](held);
    })
    .catch((error: unknown) => {
      tally.missed(kind, String(error).split('\n')[0] ?? '');
    });
}

async function timePasses(world: World): Promise<void> {
  await world.letTimePass(BEYOND_A_LEASE_SEC).catch(() => undefined);
  await pause(TAKES_OVER_MS);
}

async function befallNode(
  { world }: Storm,
  fault: Extract<Fault, { kind: 'kill' | 'pause' | 'deploy' }>,
): Promise<void> {
  const node = world.nodes[fault.target];
  switch (fault.kind) {
    case 'kill':
      await node.kill();
      return;
    case 'pause':
      await node.standStill(() => timePasses(world));
      return;
    case 'deploy':
      // One after the other, as a rolling restart does.
      for (const each of Object.values(world.nodes)) await each.deploy();
  }
}

type PlainKind = Exclude<Fault['kind'], PointFault['kind'] | 'kill' | 'pause' | 'deploy' | 'deck'>;

const DEEDS: Record<PlainKind, (now: Storm, ms: number) => Promise<unknown>> = {
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
  migration: ({ world }) => command(world, 'migrate'),
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

/** A command of ours beside the running processes. @returns how it ended */
export async function command(
  world: World,
  ...args: string[]
): Promise<{ code: number | null; said: string }> {
  const child = startChild('cli.ts', { cwd: world.folder, env: world.env, args });
  const code = await child.ended;
  return { code, said: child.said() };
}
