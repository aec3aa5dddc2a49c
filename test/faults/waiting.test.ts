import { beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '../../src/platform/clock.ts';
import { IS_WHOLE, someOf } from '../support/extent.ts';
import { answers, applied, drip, endlessHeaders, silence } from '../support/line-faults.ts';
import type { Fault } from '../support/line.ts';
import { eventually, type CheckoutAnswer } from '../support/program.ts';
import { startStage, type Order, type Stage } from '../support/stage.ts';

// A service that keeps us waiting, or tells us to wait. Deadlines and pauses are real seconds, so each scenario has a
// program of its own and all of them wait at once, but for those in which the time of this process must stand still.

type Scenario = {
  id: string;
  name: string;
  options?: Parameters<typeof startStage>[0];
  /** Played after the others, in a process whose time passes only by {@link elapse}. */
  inStillTime?: true;
  /** What it shows the others show between them: `npm run test:all` plays it. */
  isLikeOthers?: true;
  play: (stage: Stage) => Promise<void>;
};

const hint = ({ reference }: Order): object => ({ data: { reference } });
const DAY = 86_400;

const { elapsedMs } = systemClock;
let stillMs = 0;
function elapse(ms: number): void {
  stillMs += ms;
}

/** The shopper is kept waiting by initialize, and is told to try again. */
async function unanswered(stage: Stage, fault: Fault): Promise<{ orderId: string; references: string[] }> {
  stage.line.disturb('initialize', fault);
  const answer = await stage.buy();
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  const { orderId } = (await answer.json()) as CheckoutAnswer;
  stage.line.clear();
  const rows = await stage.program.database.query<{ reference: string; status: string }>(
    'SELECT reference, status FROM payments WHERE order_id = $1 ORDER BY created_at',
    [orderId],
  );
  expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['ambiguous']));
  const { wire } = await stage.endOf({ orderId });
  expect(wire.initialize).toBe(rows.length);
  return { orderId, references: rows.map(({ reference }) => reference) };
}

async function paidOrder(stage: Stage): Promise<Order> {
  const order = await stage.checkout();
  await stage.decide(order, 'pay');
  return order;
}

/** The shopper came back while verify kept everybody waiting. */
async function confirming(stage: Stage, fault: Fault): Promise<void> {
  const order = await paidOrder(stage);
  stage.line.disturb('verify', fault);
  expect(await stage.comeBack(order)).toBe(303);
  expect(await stage.endOf(order)).toMatchObject({ order: 'pending', payments: ['open'], proofs: [] });
  await stage.heal(order);
  expect(await stage.endOf(order)).toMatchObject({ order: 'paid', releases: 1 });
}

/** Asked by a returning shopper, the service answers 429 with this header. */
async function toldToWait(stage: Stage, header: string | string[], order: Order): Promise<number> {
  stage.line.disturb('verify', [answers(429, '', { 'retry-after': header })]);
  expect(await stage.comeBack(order)).toBe(303);
  const [row] = await stage.program.database.query<{ waits: number }>(
    'SELECT extract(epoch FROM next_check_at - now())::float8 AS waits FROM payments WHERE reference = $1',
    [order.reference],
  );
  return row?.waits ?? 0;
}

/**
 * Whoever comes while the service keeps us waiting comes too early. Not tried where only our own pause of a
 * second holds: it may be over by now.
 */
async function comeTooEarly(stage: Stage, order: Order): Promise<void> {
  expect(await stage.callUs(hint(order))).toBe(202);
  expect(await stage.comeBack(order)).toBe(303);
  await stage.later(order, 0);
  expect((await stage.endOf(order)).wire.verify).toBe(1);
}

const LONG_WAITS: readonly [string, () => string, number][] = [
  ['an HTTP date in half an hour', () => new Date(Date.now() + 1_800_000).toUTCString(), 1_800],
  ['a thousand million seconds: an hour, and no longer', () => '1000000000', 3_600],
];
const NO_WAITS: readonly [string, string | string[]][] = [
  ['a date in the past', 'Wed, 21 Oct 2015 07:28:00 GMT'],
  ['a negative number', '-30'],
  ['a word', 'soon'],
  ['two of them', ['30', '70']],
];

const ALL: readonly Scenario[] = [
  {
    id: 'S1',
    name: 'initialize is never answered and was not carried out: missing at the horizon, paid by a new checkout',
    play: async (stage) => {
      const kept = await unanswered(stage, silence);
      for (let day = 1; day <= 8; day += 1) await stage.later(kept, DAY);
      await stage.later(kept, 0.1 * DAY);
      const end = await stage.endOf(kept);
      expect(end).toMatchObject({ order: 'expired', suspense: [], releases: 0 });
      expect(new Set(end.payments)).toEqual(new Set(['expired']));
      expect(new Set(end.proofs)).toEqual(new Set(['not_found']));
      const again = await stage.checkout({ orderId: kept.orderId });
      expect(kept.references).not.toContain(again.reference);
      await stage.decide(again, 'pay');
      await stage.heal(kept);
      expect(await stage.endOf(kept)).toMatchObject({ order: 'paid', releases: 1 });
    },
  },
  {
    id: 'S2',
    name: 'initialize is never answered and was carried out: money by both checkouts pays once',
    play: async (stage) => {
      const kept = await unanswered(stage, applied(silence));
      const again = await stage.checkout({ orderId: kept.orderId });
      for (const reference of [kept.references[0] ?? '', again.reference])
        await stage.decide({ reference }, 'pay');
      await stage.comeBack(again);
      await stage.heal(kept);
      const end = await stage.endOf(kept);
      expect(end).toMatchObject({ order: 'paid', suspense: ['duplicate_payment 850000'], releases: 1 });
      expect(end.payments.at(-1)).toBe('paid');
    },
  },
  {
    id: 'S3',
    name: 'the same, and the shopper pays an hour later by a link in a mail of the service',
    isLikeOthers: true,
    play: async (stage) => {
      const kept = await unanswered(stage, applied(silence));
      await stage.later(kept, 3_600);
      await stage.decide({ reference: kept.references[0] ?? '' }, 'pay');
      // Checks that are hours away are spread a little.
      await stage.later(kept, 2.5 * 3_600);
      const end = await stage.endOf(kept);
      expect(end).toMatchObject({ order: 'paid', suspense: [], releases: 1 });
      expect(end.payments[0]).toBe('paid');
    },
  },
  {
    id: 'S21',
    name: 'the answer to initialize drips',
    play: async (stage) => {
      const kept = await unanswered(stage, applied(drip));
      await stage.decide({ reference: kept.references[0] ?? '' }, 'pay');
      await stage.heal(kept);
      expect(await stage.endOf(kept)).toMatchObject({ order: 'paid', releases: 1 });
    },
  },
  {
    id: 'S21',
    name: 'the answer to verify drips',
    isLikeOthers: true,
    play: (stage) => confirming(stage, drip),
  },
  {
    id: 'S22',
    name: 'the headers of initialize never end',
    isLikeOthers: true,
    play: async (stage) => {
      const kept = await unanswered(stage, endlessHeaders);
      await stage.decide(await stage.checkout({ orderId: kept.orderId }), 'pay');
      await stage.heal(kept);
      expect(await stage.endOf(kept)).toMatchObject({ order: 'paid', releases: 1 });
    },
  },
  { id: 'S22', name: 'the headers of verify never end', play: (stage) => confirming(stage, endlessHeaders) },
  {
    id: 'S31',
    name: 'verify is half open: connected, and silent',
    play: (stage) => confirming(stage, silence),
  },
  {
    id: 'S30',
    name: 'the name of the service does not resolve: not sent, and nothing is ever asked',
    options: { gatewayUrl: 'http://service.invalid' },
    play: async (stage) => {
      const answer = await stage.buy();
      expect(answer.status).toBe(503);
      const kept = (await answer.json()) as CheckoutAnswer;
      expect(await stage.endOf(kept)).toMatchObject({ order: 'pending', payments: ['created'] });
      await stage.later(kept, 2 * 3_600);
      expect(await stage.endOf(kept)).toMatchObject({
        order: 'expired',
        payments: ['expired'],
        proofs: [],
        wire: { initialize: 0, verify: 0 },
      });
    },
  },
  {
    id: 'S6',
    name: '429 with Retry-After 3: nobody asks sooner, and then the order is paid',
    play: async (stage) => {
      const order = await paidOrder(stage);
      expect(await toldToWait(stage, '3', order)).toBeLessThanOrEqual(5);
      await eventually(async () => {
        await stage.later(order, 5);
        return (await stage.endOf(order)).order === 'paid';
      });
      expect(await stage.endOf(order)).toMatchObject({ proofs: ['paid'], releases: 1, wire: { verify: 2 } });
    },
  },
  {
    id: 'S6',
    name: '429 to initialize: it may have been carried out, and the shopper tries again later',
    play: async (stage) => {
      const kept = await unanswered(stage, applied(answers(429, {}, { 'retry-after': '1' })));
      await stage.decide({ reference: kept.references[0] ?? '' }, 'pay');
      await stage.heal(kept);
      expect(await stage.endOf(kept)).toMatchObject({ order: 'paid', suspense: [], releases: 1 });
    },
  },
  ...LONG_WAITS.map(([name, header, seconds]): Scenario => ({
    id: 'S7',
    name: `Retry-After is ${name}`,
    play: async (stage) => {
      const order = await stage.checkout();
      const waits = await toldToWait(stage, header(), order);
      await comeTooEarly(stage, order);
      expect(waits).toBeLessThanOrEqual(seconds);
      expect(waits).toBeGreaterThan(seconds - 30);
      await stage.later(order, seconds - 60);
      expect(await stage.endOf(order)).toMatchObject({ order: 'pending', proofs: [], wire: { verify: 1 } });
    },
  })),
  ...someOf(NO_WAITS, 1).map(([name, header]): Scenario => ({
    id: 'S7',
    name: `Retry-After is ${name}: our own pause`,
    play: async (stage) => {
      const order = await paidOrder(stage);
      expect(await toldToWait(stage, header, order)).toBeLessThanOrEqual(5);
      await eventually(async () => {
        await stage.heal(order);
        return (await stage.endOf(order)).order === 'paid';
      });
      expect(await stage.endOf(order)).toMatchObject({ proofs: ['paid'], releases: 1 });
    },
  })),
  {
    id: 'S44',
    name: 'verify stalls for everybody: the service is left alone, checkouts are kept, webhooks taken, and all is paid later',
    inStillTime: true,
    play: async (stage) => {
      const orders = await Promise.all(Array.from({ length: 5 }, () => paidOrder(stage)));
      const sixth = await paidOrder(stage);
      stage.line.disturb('verify', silence);
      const answers = await Promise.all(
        orders.map(({ reference }, at) =>
          fetch(`${stage.origin}/checkout/return/${reference}`, {
            redirect: 'manual',
            headers: { 'x-forwarded-for': `203.0.113.${at + 1}` },
          }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(orders.map(() => 303));
      stage.line.clear();
      await leftAlone(stage, sixth);
      for (const order of [...orders, sixth]) {
        await stage.heal(order);
        expect(await stage.endOf(order)).toMatchObject({ order: 'paid', proofs: ['paid'], releases: 1 });
      }
    },
  },
  {
    id: 'S44',
    name: 'every call fails: after twenty of them the service is left alone until it is well',
    inStillTime: true,
    play: async (stage) => {
      const order = await paidOrder(stage);
      stage.line.disturb('verify', answers(503));
      stage.line.disturb('initialize', answers(503));
      for (let call = 0; call < 25; call += 1) await stage.buy();
      const { initialize } = callsOf(await bookOf(stage));
      expect(initialize).toBeLessThanOrEqual(21);
      stage.line.clear();
      await leftAlone(stage, order);
      await stage.heal(order);
      expect(await stage.endOf(order)).toMatchObject({ order: 'paid', releases: 1 });
    },
  },
];

const SCENARIOS = ALL.filter(({ isLikeOthers }) => IS_WHOLE || isLikeOthers === undefined);

/** The service is not asked by anybody: neither for a checkout nor about `order`; when it is, what was kept goes out. */
async function leftAlone(stage: Stage, order: Order): Promise<void> {
  const before = callsOf(await bookOf(stage));
  const answer = await stage.buy();
  expect(answer.status).toBe(503);
  const { orderId } = (await answer.json()) as CheckoutAnswer;
  expect(await stage.callUs(hint(order))).toBe(202);
  expect(await stage.comeBack(order)).toBe(303);
  await stage.later(order, 0);
  expect(await stage.endOf(order)).toMatchObject({ order: 'pending', wire: { verify: 0 } });
  expect(await stage.endOf({ orderId })).toMatchObject({ payments: ['created'], wire: { initialize: 0 } });
  expect(callsOf(await bookOf(stage))).toEqual(before);
  elapse(20_000);
  const opened = await eventually(async () => {
    const next = await stage.buy({ orderId });
    return next.status === 201 ? ((await next.json()) as CheckoutAnswer) : null;
  });
  await stage.decide(opened, 'pay');
  await stage.heal({ orderId });
  expect(await stage.endOf({ orderId })).toMatchObject({
    order: 'paid',
    payments: ['paid'],
    wire: { initialize: 1 },
  });
}

type Book = { endpoints: Record<'initialize' | 'verify', { total: number }> };
const bookOf = async (stage: Stage): Promise<Book> =>
  (await (await fetch(`${stage.line.url}/sandbox/calls`)).json()) as Book;
const callsOf = ({ endpoints }: Book) => ({
  initialize: endpoints.initialize.total,
  verify: endpoints.verify.total,
});

/** Programs start one after the other: two dozen at once keep each other from their databases. */
let startedBefore: Promise<unknown> = Promise.resolve();

async function perform({ options, play }: Scenario): Promise<void> {
  const starting = startedBefore.then(() => startStage(options));
  startedBefore = starting.catch(() => undefined);
  const stage = await starting;
  try {
    await play(stage);
    await stage.check();
  } finally {
    await stage.close();
  }
}

const performances = new Map<Scenario, Promise<void>>();
beforeAll(() => {
  const begin = (scenario: Scenario, performance: Promise<void>): Promise<void> => {
    performances.set(scenario, performance);
    // Whoever awaits it learns of its end; until then nobody does.
    return performance.catch(() => undefined);
  };
  const atOnce = SCENARIOS.filter(({ inStillTime }) => inStillTime === undefined);
  let before: Promise<unknown> = Promise.all(atOnce.map((scenario) => begin(scenario, perform(scenario))));
  for (const scenario of SCENARIOS.filter(({ inStillTime }) => inStillTime))
    before = begin(
      scenario,
      before.then(() => {
        stillMs = elapsedMs();
        systemClock.elapsedMs = () => stillMs;
        return perform(scenario).finally(() => (systemClock.elapsedMs = elapsedMs));
      }),
    );
});

test.each(SCENARIOS)('$id: $name', async (scenario) => {
  const performance = performances.get(scenario);
  expect(performance).toBeDefined();
  await performance;
});
