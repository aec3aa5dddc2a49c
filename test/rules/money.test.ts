import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { compileFunction } from 'node:vm';
import * as money from '../../src/payments/money.ts';

const { EMPTY, grow, growthOf, observeList, observeVerify, standingOf } = money;
type Ledger = money.Ledger;

const SPENT = ['earned', 'kept', 'sendBack', 'refunded', 'lost'] as const;
const COUNTERS = ['came', 'went', ...SPENT, 'sendBackElsewhere', 'refundedElsewhere'] as const;
const MIGRATION = new URL('../../prisma/migrations/20261101000000_init/migration.sql', import.meta.url);

type Null = bigint | null;
// As PostgreSQL has them: they pass over null.
const least = (...all: Null[]): bigint => all.reduce<bigint>((a, b) => (b !== null && b < a ? b : a), 10n ** 18n);
const greatest = (...all: Null[]): Null => all.reduce((a, b) => (a === null || (b !== null && b > a) ? b : a));
const coalesce = (a: Null, b: bigint): bigint => a ?? b;

type Check = (m: Ledger, ...functions: unknown[]) => boolean;
/** The CHECKs of the table `money`, as the migration has them: SQL of this kind is nearly a program. */
const SQL = readFileSync(MIGRATION, 'utf8').replace(/\s+/g, ' ');
const WRITTEN = /CONSTRAINT "(money_\w+)" CHECK \((.*?)\)(?=, CONSTRAINT|, --| \);)/g;
const CHECKS = [...SQL.matchAll(WRITTEN)].map(([, name = '', sql = '']): [string, Check] => {
  const named = sql.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()).replace(/"(\w+)"/g, 'm.$1');
  const code = named.replace(/\b0\b/g, '0n').replaceAll(' = ', ' === ').replaceAll(' AND ', ' && ');
  return [name, compileFunction(`return ${code}`, ['m', 'least', 'greatest', 'coalesce']) as Check];
});

/** Each charge at the service, and how much of it went back. Verify shows the first one, the list all of them. */
type Charge = { amount: bigint; gone: bigint };
/** `past`: the list as it was some time ago. */
type World = { charges: Charge[]; past: Charge[] };
/** `part` out of 4 of what there is; `isHere`: at the service, else by a bank. */
type Step = { kind: string; amount: bigint; part: bigint; isHere: boolean };
type Deed = (m: Ledger, step: Step, world: World) => Ledger;

const leftOf = (charge?: Charge): bigint => (charge ? charge.amount - charge.gone : 0n);
const sum = (all: readonly bigint[]): bigint => all.reduce((a, b) => a + b, 0n);
const hear = (m: Ledger, all: Charge[]): Ledger =>
  observeList(m, sum(all.map(leftOf)), sum(all.map(({ gone }) => gone)));
const partOf = (whole: bigint, { part }: Step): bigint => (whole * part) / 4n;
const notShown = (m: Ledger) => standingOf(m).stillToGo;

const HONEST: Record<string, Deed> = {
  charge: (m, { amount }, { charges }) => {
    charges.push({ amount, gone: 0n });
    return m;
  },
  reverse: (m, step, { charges }) => {
    const charge = charges[Number(step.amount) % Math.max(1, charges.length)];
    if (charge) charge.gone += partOf(leftOf(charge), step);
    return m;
  },
  verify: (m, _, { charges: [first] }) => observeVerify(m, leftOf(first), first?.gone ?? 0n),
  // Before the list is heard, verify is asked.
  list: (m, step, world) => hear(HONEST.verify?.(m, step, world) ?? m, world.charges),
};
const OTHERS: Record<string, Deed> = {
  'a reversal without a figure': (m, { isHere }, { charges: [first] }) =>
    observeVerify(m, isHere ? leftOf(first) : 0n, null),
  'verify shows another charge': (m, _, { charges }) =>
    observeVerify(m, leftOf(charges.at(-1)), charges.at(-1)?.gone ?? 0n),
  'a list that lags': (m, _, { past }) => hear(m, past),
  release: (m, step) => grow(m, { earned: partOf(standingOf(m).held, step) }),
  keep: (m, step) => grow(m, { kept: partOf(standingOf(m).held, step) }),
  'send back': (m, step) => {
    const sendBack = partOf(standingOf(m).held, step);
    return grow(m, { sendBack, sendBackElsewhere: step.isHere ? 0n : sendBack });
  },
  refund: (m, step) => {
    const refunded = greatest(0n, partOf(m.earned - m.refunded - m.lost, step)) ?? 0n;
    return grow(m, { refunded, refundedElsewhere: step.isHere ? 0n : refunded });
  },
  'write off': (m, step) => {
    const left = m.earned + m.kept - (m.refunded - m.refundedElsewhere) - m.lost;
    return grow(m, { lost: partOf(least(standingOf(m).reversed, left), step) });
  },
  'not shown: other money': (m) => grow(m, { came: notShown(m), went: notShown(m), sendBack: notShown(m) }),
  'not shown: it went by a bank': (m) => {
    const refundedElsewhere = least(notShown(m), m.refunded - m.refundedElsewhere);
    const rest = least(notShown(m) - refundedElsewhere, m.sendBack - m.sendBackElsewhere);
    return grow(m, { refundedElsewhere, sendBackElsewhere: rest });
  },
  'not shown: kept': (m) => grow(m, { came: notShown(m), went: notShown(m), kept: notShown(m) }),
  'whatever code asks for, which the rules may refuse': (m, { amount }) => {
    try {
      return grow(m, { [SPENT[Number(amount) % SPENT.length] ?? 'lost']: amount });
    } catch (error) {
      if (error instanceof RangeError) return m;
      throw error;
    }
  },
};

const livesOf = (kinds: string[]): fc.Arbitrary<Step[]> => {
  const [amount, part] = [fc.bigInt(1n, 40n), fc.bigInt(1n, 4n)];
  const step = fc.record({ kind: fc.constantFrom(...kinds), amount, part, isHere: fc.boolean() });
  return fc.array(step, { minLength: 1, maxLength: 10 });
};

/** @throws with what does not hold after a step */
function hold(before: Ledger, m: Ledger, grown: Ledger): void {
  const demand = (promise: string, holds: boolean): void => {
    if (!holds) throw new Error(promise);
  };
  for (const [name, holds] of CHECKS) demand(name, holds(m, least, greatest, coalesce));
  const { held, reversed, stillToGo, ours } = standingOf(m);
  demand('held and reversed are never both positive', held === 0n || reversed === 0n);
  const elsewheres = m.refundedElsewhere + m.sendBackElsewhere;
  demand('what is there is accounted for', m.came - m.went === held - reversed + stillToGo + ours + elsewheres);
  const growth = growthOf(before, m);
  for (const one of COUNTERS) {
    demand(`${one} only grows`, m[one] >= before[one]);
    grown[one] += growth[one] ?? 0n;
    demand(`the growths of ${one} are its sum, and none is of nothing`, grown[one] === m[one] && growth[one] !== 0n);
  }
}

test('of 100,000 lives of a payment, the books are right after every step', () => {
  expect(CHECKS).toHaveLength(6);
  const DEEDS = { ...HONEST, ...OTHERS };
  const life = fc.property(livesOf(Object.keys(DEEDS)), (steps) => {
    const world: World = { charges: [], past: [] };
    const grown = { ...EMPTY };
    steps.reduce((m, step) => {
      const after = DEEDS[step.kind]?.(m, step, world) ?? m;
      hold(m, after, grown);
      if (step.isHere) world.past = world.charges.map((one) => ({ ...one }));
      return after;
    }, EMPTY);
  });
  fc.assert(life, { numRuns: 100_000, seed: 36 });
});

test('what an honest list shows is booked exactly, however verify stands to it', () => {
  const life = fc.property(livesOf(Object.keys(HONEST)), (steps) => {
    const world: World = { charges: [], past: [] };
    const all = [...steps, { ...steps[0], kind: 'list' } as Step];
    const { came, went } = all.reduce((m, step) => HONEST[step.kind]?.(m, step, world) ?? m, EMPTY);
    const { charges } = world;
    expect([came, went]).toEqual([sum(charges.map(({ amount }) => amount)), sum(charges.map(({ gone }) => gone))]);
  });
  fc.assert(life, { numRuns: 10_000, seed: 36 });
});

test('what went and one source never shows is booked once, by the other; second charges by the list alone', () => {
  const life = fc.property(livesOf(['charge', 'reverse', 'verify', 'list']), fc.boolean(), (steps, isVerifyBlind) => {
    const charges: Charge[] = [];
    const goneBy = (all: Charge[], isBlind: boolean): bigint => (isBlind ? 0n : sum(all.map(({ gone }) => gone)));
    const amountOf = (all: Charge[]): bigint => sum(all.map(({ amount }) => amount));
    const verify = (m: Ledger): Ledger => {
      const gone = goneBy(charges.slice(0, 1), isVerifyBlind);
      return observeVerify(m, amountOf(charges.slice(0, 1)) - gone, gone);
    };
    const list = (m: Ledger): Ledger => {
      const gone = goneBy(charges, !isVerifyBlind);
      return observeList(verify(m), amountOf(charges) - gone, gone);
    };
    const { came, went } = [...steps, { ...steps[0], kind: 'list' } as Step].reduce((m, step) => {
      // Only the list shows what went of a second charge.
      const charge = charges[isVerifyBlind ? Number(step.amount) % charges.length : 0];
      if (step.kind === 'charge') charges.push({ amount: step.amount, gone: 0n });
      else if (step.kind === 'reverse' && charge) charge.gone += partOf(leftOf(charge), step);
      return step.kind === 'verify' ? verify(m) : step.kind === 'list' ? list(m) : m;
    }, EMPTY);
    expect([came, went]).toEqual([amountOf(charges), sum(charges.map(({ gone }) => gone))]);
  });
  fc.assert(life, { numRuns: 10_000, seed: 37 });
});

const shown = (amount: bigint): Ledger => observeVerify(EMPTY, amount, 0n);
const PAID = grow(shown(85n), { earned: 85n });
const TWICE = observeList(PAID, 170n, 0n);
const THRICE = observeList(grow(observeList(EMPTY, 50n, 0n), { earned: 25n, sendBack: 25n }), 25n, 25n);
const WRITTEN_OFF = grow(observeVerify(PAID, 0n, null), { lost: 85n });
const ACCEPTED = grow(shown(20n), { earned: 20n });

test.each<[string, Ledger, Partial<Ledger & money.Standing>]>([
  ['a fall in verify alone waits for the list', observeVerify(PAID, 50n, 0n), { went: 0n, listShows: 85n }],
  ['what verify shows as gone went', observeVerify(PAID, 80n, 5n), { went: 5n, reversed: 5n, listShows: null }],
  ['taken back without a figure, all of it went', observeVerify(PAID, 0n, null), { went: 85n, reversed: 85n }],
  [
    'M7: it came back',
    observeVerify(observeVerify(PAID, 0n, null), 85n, 0n),
    { held: 0n, reversed: 0n, sendBack: 85n },
  ],
  ['a refund is needed no more', grow(PAID, { refunded: 45n }), { need: 40n, toGo: 45n, stillToGo: 45n, ours: 40n }],
  ['M9: one by bank is', grow(PAID, { refunded: 45n, refundedElsewhere: 45n }), { need: 85n, toGo: 0n, ours: 40n }],
  [
    'M10: the second charge was refunded by bank, the first is charged back',
    observeList(grow(TWICE, { sendBack: 85n, sendBackElsewhere: 85n }), 85n, 85n),
    { held: 0n, toGo: 0n, reversed: 85n },
  ],
  ['after a write-off, what comes is held', observeVerify(WRITTEN_OFF, 20n, 0n), { held: 20n, stillToGo: 0n }],
  // Of 85 the list shows 40 and 45 gone: it accounts for all that came, and verify only never shows refunds.
  [
    'a refund that only the list shows',
    observeList(grow(PAID, { refunded: 45n }), 40n, 45n),
    { held: 0n, stillToGo: 0n },
  ],
  ['a chargeback that only the list shows', observeList(PAID, 0n, 85n), { held: 0n, reversed: 85n, ours: 85n }],
  ['it went by itself: nobody expects it', observeVerify(observeList(PAID, 170n, 0n), 0n, 85n), { expected: 0n }],
  ['M14: a third charge', observeList(grow(TWICE, { sendBack: 85n }), 255n, 0n), { held: 85n, stillToGo: 85n }],
  ['M15: 25 and 25 decided, one gone, 20 came', observeList(THRICE, 45n, 25n), { held: 20n, reversed: 0n }],
  ['M16: 20 of 25 accepted, then the rest', observeVerify(ACCEPTED, 25n, 0n), { held: 5n }],
  ['M16: 20 of 25 accepted, then taken back', observeVerify(ACCEPTED, 0n, null), { reversed: 20n }],
])('%s', (_, ledger, expected) => {
  expect({ ...ledger, ...standingOf(ledger) }).toMatchObject(expected);
});
