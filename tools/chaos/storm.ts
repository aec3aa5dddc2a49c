import { setTimeout } from 'node:timers/promises';
import type { Held } from '../../test/support/stops.ts';
import type { Tally } from './tally.ts';
import { pause } from './child.ts';
import { DEEDS } from './deeds.ts';
import { NODE_KINDS, POINT_KINDS, type Fault, type Plan } from './plan.ts';
import { visit, type Opened } from './shoppers.ts';
import type { World } from './world.ts';

/** Longer than every lease. */
const BEYOND_A_LEASE_SEC = 31;
/** Whoever is free takes over what a paused process held. */
const TAKES_OVER_MS = 1_500;
/** A beat that takes longer is left to itself: nothing may wait for ever. */
const BEAT_MS = 30_000;
const MINUTE_MS = 60_000;
/** What was begun ends before the healing does. */
const LAST_FAULTS_MS = 70_000;

type Storm = { world: World; tally: Tally; isOver: boolean; opened: Opened[] };

/** Plays the plan: in each beat shoppers come while faults happen. */
export async function storm(world: World, plan: Plan, tally: Tally): Promise<void> {
  const now: Storm = { world, tally, isOver: false, opened: [] };
  const all: Promise<void>[] = [];
  for (const [at, beat] of plan.beats.entries()) {
    const faults = beat.faults.map((fault) => begin(now, fault));
    all.push(...faults);
    const visits = beat.shoppers.map(async (shopper, place) => {
      const order = await visit(world, shopper, `s${plan.seed}-${at}-${place}`);
      if (order !== null) now.opened.push(order);
    });
    await atMost(BEAT_MS, [...faults, ...visits]);
  }
  now.isOver = true;
  await atMost(LAST_FAULTS_MS, all);
}

/** Waits for the work, and no longer than so; what is left of the time keeps no process alive. */
async function atMost(ms: number, work: readonly Promise<unknown>[]): Promise<void> {
  await Promise.race([Promise.all(work), setTimeout(ms, undefined, { ref: false })]);
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
    else await DEEDS[fault.kind]({ world, opened: now.opened }, fault.ms);
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
  fault: Extract<Fault, { kind: (typeof NODE_KINDS)[number] }>,
): Promise<void> {
  const node = world.nodes[fault.target];
  switch (fault.kind) {
    case 'kill':
      await node.kill();
      return;
    case 'pause':
      await node.standStill(() => timePasses(world));
      return;
    case 'pause-for-a-minute':
      await node.standStill(() => pause(MINUTE_MS));
      return;
    case 'clock-jump':
      node.jump();
      return;
    case 'deploy':
      // One after the other, as a rolling restart does.
      for (const each of Object.values(world.nodes)) await each.deploy();
  }
}
