import type { Point } from '../../test/support/stops.ts';
import type { AirName } from '../../local/sandbox/faults/deck.ts';
import { createRandom, type Random } from './random.ts';

export const NODES = ['node-a', 'node-b', 'worker'] as const;
export type NodeName = (typeof NODES)[number];

/** A message on one of a node's sides, by its name: what happens there happens whenever it comes. */
export type NamedPoint = { on: 'database' | 'service' | 'receiver'; what: string; point: Point };

/** One fault of a plan: what it is, whom it befalls, and where. */
export type Fault =
  | { kind: PointKind; target: NodeName; at: NamedPoint; ms: number }
  | { kind: NodeKind; target: NodeName; ms: number }
  | { kind: PlainKind; ms: number }
  | { kind: 'deck'; card: AirName; calls: number };

/** Faults at a named point. */
export const POINT_KINDS = [
  'kill-at-point',
  'pause-at-point',
  'cut-at-point',
  'half-open-at-point',
  'slow-at-point',
] as const;
/** Faults of one node at any moment. */
export const NODE_KINDS = ['kill', 'pause', 'pause-for-a-minute', 'clock-jump', 'deploy'] as const;
/** Faults of the database, the service or the clients. */
export const PLAIN_KINDS = [
  'postgres-restart',
  'postgres-crash',
  'backend-killed',
  'table-locked',
  'read-only',
  'connections-taken',
  'disk-full',
  'disk-slow',
  'database-clock',
  'migration',
  'next-migration',
  'upgrade',
  'service-stopped',
  'outage',
  'key-refused',
  'hint-storm',
  'forged-webhooks',
  'hostile-requests',
  'reconciliation',
] as const;
type PointKind = (typeof POINT_KINDS)[number];
type NodeKind = (typeof NODE_KINDS)[number];
type PlainKind = (typeof PLAIN_KINDS)[number];

/** Cards of the stand-in's deck that a service may play on anybody. */
const CARDS = [
  'webhook-lost',
  'webhook-doubled',
  'webhook-late',
  'webhook-reordered',
  'webhook-badly-signed',
  'answer-slow',
  'answer-dripping',
  'answer-cut',
  'answer-empty',
  'answer-html',
  'error-before-acting',
  'error-after-acting',
  'key-refused',
  'not-found-for-a-while',
  'too-many-calls-seconds',
  'too-many-calls-date',
  'too-many-calls-bare',
  'other-record',
  'unknown-word',
  'missing-reference',
  'missing-status',
  'missing-amount',
  'missing-currency',
] as const satisfies readonly AirName[];

export const STORIES = [
  'pays and returns',
  'pays, the webhook alone',
  'pays, everything lost',
  'fails',
  'fails and tries again',
  'pays two payments',
  'pays twice on one page',
  'pays less',
  'pays more',
  'leaves',
  'asks three times under one key',
  'five webhooks at once',
  'returns many times at once',
] as const;
export type Story = (typeof STORIES)[number];

export type Beat = { shoppers: { story: Story; sku: string; quantity: number }[]; faults: Fault[] };
export type Plan = {
  seed: number;
  /** Kinds of faults that this seed leaves on; a random half, so that rare ones meet. */
  kinds: string[];
  /** How far the clock of each process is off, in milliseconds. */
  clocks: Record<NodeName, number>;
  /** The version that runs at first. Absent: these sources. */
  startsFrom?: 'previous';
  beats: Beat[];
};

const POINTS: [NamedPoint['on'], string, Point[]][] = [
  ['database', 'place-order', ['asked', 'uncommitted', 'answered']],
  ['database', 'record-initialize', ['asked', 'uncommitted', 'answered']],
  ['database', 'record-ambiguous-and-add-payment', ['asked', 'uncommitted', 'answered']],
  ['database', 'store-webhook', ['asked', 'uncommitted', 'answered']],
  ['database', 'hint-and-lease-payment', ['asked', 'uncommitted', 'answered']],
  ['database', 'lease-scheduled-payments', ['asked', 'uncommitted', 'answered']],
  ['database', 'lease-hinted-payments', ['asked', 'uncommitted', 'answered']],
  ['database', 'record-confirmation', ['asked', 'uncommitted', 'answered', 'heard']],
  ['database', 'lease-due-releases', ['uncommitted', 'answered']],
  ['database', 'release-delivered', ['asked', 'uncommitted', 'answered']],
  ['service', 'POST /v1/', ['asked', 'answered', 'heard']],
  ['service', 'GET /v1/', ['asked', 'answered', 'heard']],
  ['receiver', 'POST /', ['asked', 'answered', 'heard']],
];

const SKUS = ['ankara-tote', 'bissap', 'dallah'] as const;

/** Everything that will happen under a seed: the same plan every time. */
export function planOf(seed: number, beats: number): Plan {
  const random = createRandom(seed);
  const all = [
    ...POINT_KINDS,
    ...NODE_KINDS,
    ...PLAIN_KINDS,
    ...CARDS.map((card) => `deck:${card}` as const),
  ];
  const kinds = random.shuffled(all).slice(0, Math.ceil(all.length / 2));
  const clock = (): number => random.pick([0, 0, 300_000, -300_000, 86_400_000]);
  const clocks = { 'node-a': clock(), 'node-b': clock(), worker: clock() };
  const made = Array.from({ length: beats }, () => ({
    shoppers: Array.from({ length: 8 }, () => ({
      story: random.pick(STORIES),
      sku: random.pick(SKUS),
      quantity: random.between(1, 3),
    })),
    faults: random
      .shuffled(kinds)
      .slice(0, 6)
      .map((kind) => faultOf(kind, random)),
  }));
  const faults = made.flatMap((beat) => beat.faults);
  const isUpgraded = faults.some(({ kind }) => kind === 'upgrade');
  // Once is enough: nothing else happens for most of that minute.
  const minutes = faults.filter(({ kind }) => kind === 'pause-for-a-minute').slice(1);
  for (const beat of made) beat.faults = beat.faults.filter((fault) => !minutes.includes(fault));
  return { seed, kinds, clocks, ...(isUpgraded && { startsFrom: 'previous' }), beats: made };
}

function faultOf(kind: string, random: Random): Fault {
  const ms = random.between(200, 1_500);
  const target = random.pick(NODES);
  if (kind.startsWith('deck:')) {
    return { kind: 'deck', card: kind.slice('deck:'.length) as AirName, calls: random.between(1, 3) };
  }
  const pointKind = POINT_KINDS.find((name) => name === kind);
  if (pointKind !== undefined) {
    const at = pointOf(target, random);
    // A question and its Sync travel together: a line falls silent before both or behind both.
    const isBetween = pointKind === 'half-open-at-point' && at.point === 'uncommitted';
    return { kind: pointKind, target, at: isBetween ? { ...at, point: 'answered' } : at, ms };
  }
  const nodeKind = NODE_KINDS.find((name) => name === kind);
  if (nodeKind !== undefined) return { kind: nodeKind, target, ms };
  return { kind: kind as PlainKind, ms };
}

/** The worker never takes an order or a webhook, and only who works delivers. */
function pointOf(target: NodeName, random: Random): NamedPoint {
  const isDoor = /place|store|hint|initialize|ambiguous|POST \/v1/;
  const isWork = /\blease|delivered|POST \/$/;
  const possible = POINTS.filter(
    ([, what]) => !(target === 'worker' && isDoor.test(what)) && !(target === 'node-b' && isWork.test(what)),
  );
  const [on, what, points] = random.pick(possible as [(typeof POINTS)[0] & object, ...typeof POINTS]);
  return { on, what, point: random.pick(points as [Point, ...Point[]]) };
}
