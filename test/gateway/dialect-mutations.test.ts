import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { contentOf } from '../../src/gateway/verify.ts';
import { decide } from '../../src/payments/decide.ts';
import type { Payment } from '../../src/payments/payment.ts';
import { defaultDialect } from '../support/dialect.ts';
import { IS_WHOLE, someOf } from '../support/extent.ts';
import { asOrderId, asReference } from '../support/ids.ts';

/*
 * Every answer of verify with fields dropped, renamed, retyped, nested, doubled, and taken from a neighbour: through
 * reading and deciding. Whatever pays must hold the whole truth, by an oracle that shares no code with the reader.
 */

const CASES = IS_WHOLE ? 20_000 : 4_000;
const OURS = 'R'.repeat(24);
const THEIRS = 'N'.repeat(24);

const payment: Payment = {
  reference: asReference(OURS),
  orderId: asOrderId('O'.repeat(24)),
  mode: 'test',
  amount: 2_500n,
  currency: 'NGN',
  status: 'open',
  orderStatus: 'pending',
  ageSec: 10,
  releaseId: 'rel_x',
  hasCheckoutUrl: true,
  lastAnswerAt: null,
  hasSuspense: false,
  suspenseChanges: 0,
  isDecided: false,
  isEndedByDeadline: false,
  accepted: null,
  isAdopted: false,
  isRefunded: false,
  hints: 0,
};

/** JSON as it is written: an object may hold a key twice, and a number keeps its digits. */
type Node = { text: string } | { list: Node[] } | { members: [string, Node][] };

const text = (raw: string): Node => ({ text: raw });
const object = (...members: [string, Node][]): Node => ({ members });

function recordOf(reference: string, amount: Node, more: [string, Node][] = []): [string, Node][] {
  return [
    ['id', text('9007199254740993')],
    ['reference', text(JSON.stringify(reference))],
    ['status', text('"SUCCESS"')],
    ['amount', amount],
    ...more,
  ];
}
const naira: [string, Node] = ['currency', text('"NGN"')];
const plain = recordOf(OURS, text('25.00'), [naira]);

const SHAPES: Node[] = [
  object(['status', text('true')], ['message', text('"ok"')], ['data', object(...plain)]),
  object(...plain),
  object(
    ['status', text('"success"')],
    ['data', object(['status', text('"done"')], ['data', object(...plain)])],
  ),
  object(['data', object(...recordOf(OURS, object(['value', text('"25.00"')], naira)))]),
  object(['data', object(...plain)], ['previous', object(...recordOf(THEIRS, text('7000'), [naira]))]),
];

/** Values that a field may suddenly have: a neighbour's, another type's, a number in an odd form. */
const VALUES: readonly string[] = [
  ...[
    OURS,
    THEIRS,
    '',
    ' ',
    `${OURS} `,
    OURS.toLowerCase(),
    'SUCCESS',
    'success',
    'FAILED',
    'PENDING',
    'true',
  ],
  ...[
    'NGN',
    'ngn',
    'XOF',
    'KWD',
    'naira',
    '25.00',
    '25',
    '25,00',
    '2.5e1',
    '0x19',
    '٢٥',
    '1e400',
    '__proto__',
  ],
].map((value) => JSON.stringify(value));
const NUMBERS = [
  ...['25', '25.0', '25.00', '25.000000', '25.001', '24.99', '25.01', '2500', '0.25', '250', '2.5e1', '25e0'],
  ...[
    '-25',
    '-0',
    '0',
    '1e400',
    '1E+2',
    '9007199254740993',
    '24.999999999999999999',
    '25.000000000000000001',
    '7000',
  ],
];
const RAW = [
  ...VALUES,
  ...NUMBERS,
  'true',
  'false',
  'null',
  '[]',
  '{}',
  '["SUCCESS"]',
  '[25.00]',
  '{"value":25.00}',
];
const KEYS = [
  'reference',
  'status',
  'amount',
  'currency',
  'data',
  'value',
  'mode',
  'livemode',
  'success',
  'error',
  'code',
];

type Change = { kind: number; at: number; value: string; key: string };

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.nat({ max: 7 }),
  at: fc.nat({ max: 40 }),
  value: fc.constantFrom(...RAW),
  key: fc.oneof(fc.constantFrom(...KEYS, '__proto__', 'constructor'), fc.string({ maxLength: 6 })),
});

/** Changes that a run of this test has found, each once the end of a run. */
const FOUND: [number, Change[]][] = [
  [
    0,
    [
      { kind: 7, at: 0, value: '{}', key: 'status' },
      { kind: 2, at: 10, value: '[]', key: '' },
    ],
  ],
];

/** Every member of every object, with the list that it stands in. */
function membersIn(node: Node): { members: [string, Node][]; index: number }[] {
  if ('text' in node) return [];
  if ('list' in node) return node.list.flatMap(membersIn);
  const { members } = node;
  return members.flatMap(([, value], index) => [{ members, index }, ...membersIn(value)]);
}

function apply(root: Node, { kind, at, value, key }: Change): void {
  const places = membersIn(root);
  const place = places[at % Math.max(places.length, 1)];
  if (place === undefined) return;
  const { members, index } = place;
  const [name, old] = members[index] ?? ['', text('null')];
  const changes: (() => unknown)[] = [
    () => members.splice(index, 1),
    () => (members[index] = [key, old]),
    () => (members[index] = [name, text(value)]),
    () => (members[index] = [name, object([key, old])]),
    () => (members[index] = [name, { list: [old] }]),
    () => members.push([name, text(value)]),
    () => members.unshift([name, old]),
    () => members.unshift([key, text(value)]),
  ];
  changes[kind]?.();
}

function written(node: Node): string {
  if ('text' in node) return node.text;
  if ('list' in node) return `[${node.list.map(written).join(',')}]`;
  return `{${node.members.map(([key, value]) => `${JSON.stringify(key)}:${written(value)}`).join(',')}}`;
}

/** Whether somewhere in the answer one record says all of it: ours, paid, 25 naira; and no key twice with two values. */
function holdsTheTruth(root: Node): boolean {
  return !hasTwoValues(root) && objectsIn(root).some(isWholeTruth);
}

function objectsIn(node: Node): Map<string, Node>[] {
  if ('text' in node) return [];
  if ('list' in node) return node.list.flatMap(objectsIn);
  return [new Map(node.members), ...node.members.flatMap(([, value]) => objectsIn(value))];
}

function hasTwoValues(node: Node): boolean {
  if ('text' in node) return false;
  if ('list' in node) return node.list.some(hasTwoValues);
  const { members } = node;
  const isTwice = members.some(([key, value]) =>
    members.some(([other, its]) => other === key && contentOfNode(its) !== contentOfNode(value)),
  );
  return isTwice || members.some(([, value]) => hasTwoValues(value));
}

/** What pointers find in it: nothing in an empty list, and nothing in an empty object, so that those two are no two values. */
function contentOfNode(node: Node): string {
  return written(node).replaceAll('[]', '{}');
}

function isWholeTruth(record: Map<string, Node>): boolean {
  const amount = record.get('amount');
  const inside =
    amount !== undefined && 'members' in amount ? new Map(amount.members) : new Map<string, Node>();
  const plainAmount = bare(amount);
  const values = [bare(inside.get('value')), plainAmount, ...objectIn(plainAmount)];
  // Of a number an exponent is a way to write it, of a text it is none.
  const isPower = [inside.get('value'), amount].some((node) => /^(2\.5e1|25e0)$/.test(textIn(node)));
  const currencies = [bare(record.get('currency')), bare(inside.get('currency'))];
  return (
    bare(record.get('reference'))?.trim() === OURS &&
    ['success', 'successful', 'succeeded', 'paid'].includes(
      bare(record.get('status'))?.toLowerCase() ?? '',
    ) &&
    currencies.some((code) => code?.toUpperCase() === 'NGN') &&
    (isPower || values.some((value) => value !== undefined && /^25(\.0*)?$/.test(value.trim())))
  );
}

function textIn(node: Node | undefined): string {
  return node === undefined ? '' : written(node);
}

// A value may be a whole object as text: {"value":25.00}.
function objectIn(raw: string | undefined): string[] {
  const inner = /^\{"value":([^}]*)\}$/.exec(raw ?? '')?.[1];
  return inner === undefined ? [] : [inner];
}

/** A text without its quotes, or a number's digits. */
function bare(node: Node | undefined): string | undefined {
  if (node === undefined || !('text' in node)) return undefined;
  return node.text.startsWith('"') ? String(JSON.parse(node.text)) : node.text;
}

function outcomeOf(body: string): { outcome: string; release: boolean } {
  const bytes = Buffer.from(body);
  const content = contentOf({ status: 200, headers: {}, body: bytes }, defaultDialect, 'NGN');
  const answer = { ...content, httpStatus: 200, body: bytes, bodySha256: Buffer.alloc(32) };
  return decide(payment, answer, defaultDialect.verify);
}

test('the untouched answers pay, in each shape', () => {
  expect(SHAPES.map((shape) => [outcomeOf(written(shape)).outcome, holdsTheTruth(shape)])).toEqual(
    SHAPES.map(() => ['paid', true]),
  );
});

test('each single value in each single field pays only where it changes nothing', () => {
  let cases = 0;
  // What a kind does not look at need not vary.
  const valuesOf = (kind: number): readonly string[] => {
    if (kind === 7) return IS_WHOLE ? RAW : someOf(RAW, 6);
    return [2, 5].includes(kind) ? RAW : ['null'];
  };
  const keysOf = (kind: number): readonly string[] => ([1, 3, 7].includes(kind) ? KEYS : ['data']);
  for (const shape of SHAPES)
    for (const kind of [0, 1, 2, 3, 4, 5, 6, 7])
      for (let at = 0; at < membersIn(shape).length; at += 1)
        for (const value of valuesOf(kind))
          for (const key of keysOf(kind)) {
            const root = structuredClone(shape);
            apply(root, { kind, at, value, key });
            const { release } = outcomeOf(written(root));
            cases += 1;
            if (release && !holdsTheTruth(root)) throw new Error(`paid by ${written(root)}`);
          }
  expect(cases).toBeGreaterThan(IS_WHOLE ? 20_000 : 4_000);
});

test(`of ${CASES} answers changed up to four times none pays that does not hold the whole truth, and none is a crash`, () => {
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(
      fc.nat({ max: SHAPES.length - 1 }),
      fc.array(change, { minLength: 1, maxLength: 4 }),
      (shape, changes) => {
        const root = structuredClone(SHAPES[shape] ?? object());
        for (const one of changes) apply(root, one);
        const { outcome, release } = outcomeOf(written(root));
        seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
        return !release || holdsTheTruth(root);
      },
    ),
    { numRuns: CASES, examples: FOUND },
  );
  expect([...seen.values()].reduce((sum, count) => sum + count, 0)).toBe(CASES);
  // So many changes reach every branch: what pays, and everything that does not.
  if (!IS_WHOLE) return;
  expect([...seen.keys()]).toEqual(
    expect.arrayContaining(['paid', 'pending', 'failed', 'underpaid', 'overpaid', 'unit_error']),
  );
  expect([...seen.keys()]).toEqual(
    expect.arrayContaining([
      'currency_mismatch',
      'reference_mismatch',
      'unknown_status',
      'unproven',
      'unreadable',
    ]),
  );
});
