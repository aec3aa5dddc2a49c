import { setTimeout as pause } from 'node:timers/promises';
import { fetch, type Dispatcher } from 'undici';
import { until } from './stage.ts';

const PRICES = ['1500.00', '2400.00', '990.50', '120.00', '75.25'];
const PAUSE_MS = 700;
const LIMIT_MS = 120_000;

/** What shoppers do, one order after the other. Only `underpays` and `leaves` end unpaid. */
const STORIES = ['webhook', 'lost webhook', 'no number', 'underpays', 'returns', 'leaves'] as const;
type Story = (typeof STORIES)[number];

/** What the shop's own system and the shopper know of an order, whatever becomes of the database. */
export type Told = {
  /** The shop's own number of it; in the story `no number` it has none. */
  name: string;
  story: Story;
  price: string;
  /** Ids under which it was answered 201: a further one when it was placed again. */
  orderIds: string[];
  reference: string | null;
  /** Whether the service has taken money for it. */
  isTaken: boolean;
  /** It is lost, and the receiver has shipped it: nothing is left to be done for it. */
  isKept: boolean;
};

export const isPaidInFull = ({ story, isTaken }: Told): boolean => isTaken && story !== 'underpays';

export type Life = {
  orders: Told[];
  /** What failed, in words: each ended an order's life where it was. */
  failures: string[];
  /** Waits until so many orders have a checkout. */
  reaches(count: number): Promise<void>;
  stop(): Promise<void>;
};
export type LifeOptions = {
  url: string;
  serviceUrl: string;
  token: string;
  shoppers: number;
  prefix: string;
  /** The way to the shop; the network without it. */
  dispatcher?: Dispatcher;
};

/**
 * Orders of a shop that prices elsewhere, placed and paid again and again until stopped. What fails is
 * written down.
 */
export function startLife({ url, serviceUrl, token, shoppers, prefix, dispatcher }: LifeOptions): Life {
  const orders: Told[] = [];
  let isStopping = false;
  const failures: string[] = [];

  async function live(): Promise<void> {
    const at = orders.length;
    const order: Told = {
      name: `${prefix}-${at}`,
      story: STORIES[at % STORIES.length] ?? 'webhook',
      price: PRICES[at % PRICES.length] ?? '1500.00',
      orderIds: [],
      reference: null,
      isTaken: false,
      isKept: false,
    };
    orders.push(order);
    await place(url, token, order, dispatcher);
    const checkout = await post(`${url}/checkout`, { orderId: order.orderIds[0] }, {}, dispatcher);
    const reference = checkout.reference ?? '';
    order.reference = reference;
    if (order.story === 'leaves') return;
    const notify = order.story !== 'lost webhook' && order.story !== 'returns';
    const amount = order.story === 'underpays' ? '10.00' : undefined;
    await post(`${serviceUrl}/sandbox/transactions/${reference}/pay`, { notify, amount });
    order.isTaken = true;
    if (order.story === 'returns')
      await fetch(`${url}/checkout/return/${reference}`, { redirect: 'manual', dispatcher });
  }

  const running = Array.from({ length: shoppers }, async () => {
    while (!isStopping) {
      await live().catch((error: unknown) => failures.push(String(error)));
      await pause(PAUSE_MS);
    }
  });
  return {
    orders,
    failures,
    reaches: async (count) => {
      const isReached = (): boolean => orders.filter(({ reference }) => reference !== null).length >= count;
      await until(`${count} orders run`, () => Promise.resolve(isReached()), LIMIT_MS).catch(() => {
        throw new Error(`fewer than ${count} orders ran. At last: ${failures.at(-1) ?? 'nothing failed'}`);
      });
    },
    stop: async () => {
      isStopping = true;
      await Promise.all(running);
    },
  };
}

/** Places it, or places it again under its own number. */
export async function place(url: string, token: string, order: Told, dispatcher?: Dispatcher): Promise<void> {
  const { name, story, price } = order;
  const externalId = story === 'no number' ? undefined : name;
  const lines = [{ description: 'Repair of a lamp', unitAmount: price, quantity: 1 }];
  const body = { externalId, email: 'ada@example.com', currency: 'NGN', lines };
  const { orderId } = await post(`${url}/orders`, body, { authorization: `Bearer ${token}` }, dispatcher);
  if (orderId !== undefined) order.orderIds.push(orderId);
}

type Answer = { orderId?: string; reference?: string };

/** @throws unless it is answered 2xx */
async function post(
  address: string,
  body: object,
  headers: Record<string, string> = {},
  dispatcher?: Dispatcher,
): Promise<Answer> {
  const answer = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    dispatcher,
  });
  if (!answer.ok)
    throw new Error(`${address} answered ${answer.status}: ${(await answer.text()).slice(0, 200)}`);
  return (await answer.json()) as Answer;
}
