import { createHmac } from 'node:crypto';
import { PATIENCE_SEC, WEBHOOK_SECRET, type Contestant } from './contestants.ts';
import { cpuMsOf } from './cpu.ts';
import { press, type Load, type Request } from './load.ts';
import type { Stage } from './surroundings.ts';

export const BASKET = JSON.stringify({
  email: 'ada@example.com',
  items: [{ sku: 'ankara-tote', quantity: 1 }],
});
const AT_ONCE = 50;

export type Sizes = { shoppers: readonly number[]; seconds: number; payments: number };

/**
 * `serverMs` and `databaseMs`: processor time per operation. `verifications`: calls of verify meanwhile, by
 * the clock included.
 */
export type Figures = {
  name: string;
  what: string;
  perSecond: number;
  p99Ms: number;
  serverMs: number;
  databaseMs: number;
  verifications: number;
};

/** Something that is measured of one contestant. */
export type Part = (one: Contestant, stage: Stage) => Promise<Figures[]>;

/**
 * Checkouts, webhooks about paid payments, shoppers who come back from paid ones. Each part ends when
 * all have paid, and tells of payments that were just opened: what the clock asks about shoppers who
 * have not paid for five seconds would be counted with whatever is measured then.
 */
export function partsOf({ shoppers, seconds, payments }: Sizes): Part[] {
  return [
    prepare,
    ...shoppers.map(
      (count): Part =>
        (one, stage) =>
          checkOut(one, stage, count, seconds),
    ),
    async (one, stage) => confirm(one, stage, await opened(one, payments)),
    async (one, stage) => comeBack(one, stage, await opened(one, Math.ceil(payments / 2))),
  ];
}

/** What nobody measures: every connection plans its statements anew for tables that were just analysed. */
const PREPARATIONS = 500;

/** As after a day of work: on tables that were empty a second ago the planner knows nothing. */
async function prepare(one: Contestant, stage: Stage): Promise<Figures[]> {
  await one.query('VACUUM ANALYZE');
  const tell = await paid(one, stage, await opened(one, PREPARATIONS));
  await tell();
  return [];
}

async function checkOut(
  one: Contestant,
  stage: Stage,
  shoppers: number,
  seconds: number,
): Promise<Figures[]> {
  const what = `checkouts, ${shoppers} shopper${shoppers === 1 ? '' : 's'}`;
  const { figures, load } = await measured(one, stage, what, () =>
    press(one.origin, shoppers, seconds, () => CHECKOUT),
  );
  const tell = await paid(one, stage, load.answers.map(referenceOf));
  await tell();
  return [figures];
}

async function comeBack(one: Contestant, stage: Stage, references: readonly string[]): Promise<Figures[]> {
  await stage.standIn.pay(references);
  const left = references.values();
  const { figures } = await measured(one, stage, `returns, ${AT_ONCE} at once`, () =>
    press(one.origin, AT_ONCE, PATIENCE_SEC, () => {
      const next = left.next();
      return next.done === true ? null : { method: 'GET', path: `/checkout/return/${next.value}` };
    }),
  );
  return [figures];
}

export const CHECKOUT: Request = { path: '/checkout', body: BASKET };

export function referenceOf(answer: string): string {
  return (JSON.parse(answer) as { reference: string }).reference;
}

/** So many checkouts, as fast as they come. @returns their references */
async function opened(one: Contestant, count: number): Promise<string[]> {
  let left = count;
  const { answers } = await press(one.origin, AT_ONCE, PATIENCE_SEC, () => {
    left -= 1;
    return left < 0 ? null : CHECKOUT;
  });
  return answers.map(referenceOf);
}

/** From the first webhook to the last 202, and to the last order that says paid. */
async function confirm(one: Contestant, stage: Stage, references: readonly string[]): Promise<Figures[]> {
  let acknowledgedPerSecond = 0;
  const tell = await paid(one, stage, references);
  const { figures } = await measured(one, stage, `payments confirmed, ${AT_ONCE} at once`, async () => {
    const startMs = performance.now();
    const sent = await tell();
    acknowledgedPerSecond = sent.perSecond;
    return { ...sent, perSecond: (references.length / (performance.now() - startMs)) * 1_000 };
  });
  return [
    { ...figures, what: `webhooks acknowledged, ${AT_ONCE} at once`, perSecond: acknowledgedPerSecond },
    figures,
  ];
}

/**
 * The shoppers of these payments pay.
 * @returns what has the service call about them, and waits until their orders are paid
 */
async function paid(
  one: Contestant,
  { standIn }: Stage,
  references: readonly string[],
): Promise<() => Promise<Load>> {
  await standIn.pay(references);
  return async () => {
    const queue = references.values();
    const sent = await press(one.origin, AT_ONCE, PATIENCE_SEC, () => {
      const next = queue.next();
      return next.done === true ? null : webhookAbout(next.value);
    });
    await one.untilPaid(references);
    return sent;
  };
}

export function webhookAbout(reference: string): Request {
  const body = JSON.stringify({ event: 'transaction.success', data: { reference, status: 'SUCCESS' } });
  const signature = createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex');
  return { path: '/webhooks/payments', body, headers: { 'x-signature': signature } };
}

async function measured(
  one: Contestant,
  { standIn, databasePid }: Stage,
  what: string,
  work: () => Promise<Load>,
): Promise<{ figures: Figures; load: Load }> {
  const [server, database] = [cpuMsOf(one.pid), cpuMsOf(databasePid)];
  const asked = await standIn.countVerifications();
  const load = await work();
  if (load.errors > 0) throw new Error(`${one.name} refused ${load.errors} of ${what}`);
  const operations = load.answers.length;
  const figures: Figures = {
    name: one.name,
    what,
    perSecond: load.perSecond,
    p99Ms: load.p99Ms,
    serverMs: (cpuMsOf(one.pid) - server) / operations,
    databaseMs: (cpuMsOf(databasePid) - database) / operations,
    verifications: (await standIn.countVerifications()) - asked,
  };
  return { figures, load };
}
