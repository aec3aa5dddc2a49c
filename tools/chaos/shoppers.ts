import { pause } from './child.ts';
import type { Beat, Story } from './plan.ts';
import type { World } from './world.ts';

/** A checkout that a shopper got. */
export type Opened = { orderId: string; reference: string };

type Shopper = Beat['shoppers'][number];
type Told = { world: World; order: Opened; request: { body: object; key: string } };

/** A database that was killed is back by then, on a busy machine, too: a storm in which nobody buys proves nothing. */
const PATIENCE_MS = 20_000;
const TRY_AGAIN_MS = 400;

/** One shopper's visit. Whatever breaks on the way, a shopper shrugs and goes on. @returns the checkout, if there was one */
export async function visit(
  world: World,
  { story, sku, quantity }: Shopper,
  name: string,
): Promise<Opened | null> {
  const request = { body: { email: `${name}@example.com`, items: [{ sku, quantity }] }, key: `key-${name}` };
  const order = await buy(world, request.body, request.key);
  if (order !== null) await STORIES[story]({ world, order, request }).catch(() => undefined);
  return order;
}

/** Asks under one key until there is a checkout, for a while. */
async function buy(world: World, body: object, key: string): Promise<Opened | null> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end;) {
    const answer = await world.call('POST', '/checkout', body, { 'idempotency-key': key });
    if (answer?.status === 201) return JSON.parse(answer.body) as Opened;
    await pause(TRY_AGAIN_MS);
  }
  return null;
}

const times = <T>(count: number, work: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, work));
const decide = ({ world, order }: Told, deed: 'pay' | 'fail', how: object = {}): Promise<unknown> =>
  world.hand(`transactions/${order.reference}/${deed}`, how);
const comeBack = ({ world, order }: Told): Promise<unknown> =>
  world.call('GET', `/checkout/return/${order.reference}`);
const SILENTLY = { notify: false };

const STORIES: Record<Story, (told: Told) => Promise<unknown>> = {
  'pays and returns': async (told) => {
    await decide(told, 'pay');
    await comeBack(told);
  },
  'pays, the webhook alone': (told) => decide(told, 'pay'),
  'pays, everything lost': (told) => decide(told, 'pay', SILENTLY),
  fails: async (told) => {
    await decide(told, 'fail');
    await comeBack(told);
  },
  'fails and tries again': async (told) => {
    await decide(told, 'fail');
    await comeBack(told);
    await again(told, 'pay');
  },
  'pays two payments': async (told) => {
    await decide(told, 'fail', SILENTLY);
    await comeBack(told);
    await again(told, 'pay');
    await decide(told, 'pay', SILENTLY);
  },
  'pays twice on one page': async (told) => {
    await decide(told, 'pay');
    await comeBack(told);
    await decide(told, 'pay', SILENTLY);
  },
  'pays less': (told) => decide(told, 'pay', { amount: '7' }),
  'pays more': (told) => decide(told, 'pay', { amount: '1234567' }),
  leaves: () => Promise.resolve(),
  'asks three times under one key': async (told) => {
    const { world, request } = told;
    const headers = { 'idempotency-key': request.key };
    await times(3, () => world.call('POST', '/checkout', request.body, headers));
    await world.call('POST', '/checkout', { ...request.body, email: 'other@example.com' }, headers);
    await decide(told, 'pay');
  },
  'five webhooks at once': async (told) => {
    await decide(told, 'pay', SILENTLY);
    await times(5, () => told.world.webhook(told.order.reference, 'SUCCESS'));
  },
  'returns many times at once': async (told) => {
    await decide(told, 'pay', SILENTLY);
    await times(20, () => comeBack(told));
  },
};

/** A further checkout of the same order. */
async function again({ world, order, request }: Told, deed: 'pay' | 'fail'): Promise<void> {
  const next = await buy(world, { orderId: order.orderId }, `${request.key}-again`);
  if (next !== null) await decide({ world, order: next, request }, deed);
}
