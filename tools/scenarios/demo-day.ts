import { checksOf } from './order-end.sql.ts';
import type { OrderStatus } from '../../src/orders/order.ts';
import { findOrderStatus } from '../../src/orders/orders.sql.ts';
import { sleep, systemClock } from '../../src/platform/clock.ts';
import { newId, type OrderId } from '../../src/platform/ids.ts';
import type { StartedServer } from '../../src/bootstrap/start-server.ts';

/** One order of the day: what its shopper does, what goes wrong, and where it must end. */
export type Story = {
  shopper: string;
  did: string;
  lost: string;
  /**
   * Who may have found it, in the words of the journal; empty: there is nothing to find. On a machine that is busy with
   * something else the clock may strike before whom the story is about.
   */
  foundBy: readonly string[];
  ends: OrderStatus;
  /** What must stand in suspense afterwards. */
  suspense: readonly string[];
  /** Plays the story and gives the order's id. */
  play(day: Day): Promise<OrderId>;
};

/** A person's hands: at the shop's API and at the sandbox's pages. */
export type Day = {
  checkout(email: string, body: object): Promise<{ orderId: OrderId; reference: string }>;
  /** What happens on the hosted page; `notify: false` loses the webhook. */
  atTheService(
    reference: string,
    deed: 'pay' | 'fail',
    how?: { amount?: string; notify?: boolean },
  ): Promise<void>;
  /** Anything else at the sandbox's control routes. */
  atTheSandbox(path: string, body: object): Promise<void>;
  /** A checkout that may fail: the HTTP status, and what is known of it. */
  triesToCheckout(
    email: string,
    body: object,
  ): Promise<{ status: number; orderId: string; reference: string }>;
  /** Whether the server calls itself ready. */
  isReady(): Promise<boolean>;
  comesBack(reference: string): Promise<void>;
  until(what: string, isTrue: () => Promise<boolean>): Promise<void>;
  status(orderId: OrderId): Promise<OrderStatus | null>;
  /** How often the clock has looked at a payment. */
  checks(reference: string): Promise<number>;
};

const basket = (sku: string, quantity = 1): object => ({ items: [{ sku, quantity }] });

export const STORIES: readonly Story[] = [
  {
    shopper: 'Ada',
    did: 'paid and came back',
    lost: 'nothing',
    foundBy: ['webhook', 'hint', 'return'],
    ends: 'paid',
    suspense: [],
    play: async (day) => {
      const { orderId, reference } = await day.checkout('ada@example.com', basket('ankara-tote'));
      await day.atTheService(reference, 'pay');
      await day.comesBack(reference);
      return orderId;
    },
  },
  {
    shopper: 'Binta',
    did: 'paid, closed the page',
    lost: 'webhook, return',
    foundBy: ['schedule'],
    ends: 'paid',
    suspense: [],
    play: async (day) => {
      const { orderId, reference } = await day.checkout('binta@example.com', basket('bissap', 2));
      await day.atTheService(reference, 'pay', { notify: false });
      return orderId;
    },
  },
  {
    shopper: 'Chidi',
    did: 'paid after our checks',
    lost: 'webhook, return',
    foundBy: ['reconciliation', 'schedule'],
    ends: 'paid',
    suspense: [],
    play: async (day) => {
      const { orderId, reference } = await day.checkout('chidi@example.com', basket('dallah'));
      await day.until('the clock has looked once', async () => (await day.checks(reference)) > 0);
      await day.atTheService(reference, 'pay', { notify: false });
      return orderId;
    },
  },
  {
    shopper: 'Dalia',
    did: 'paid KWD 10 of 18.500',
    lost: 'KWD 8.500',
    foundBy: ['webhook', 'hint', 'schedule'],
    ends: 'review',
    suspense: ['underpaid'],
    play: async (day) => {
      const { orderId, reference } = await day.checkout('dalia@example.com', basket('dallah'));
      await day.atTheService(reference, 'pay', { amount: '10.000' });
      await day.until('the underpayment is held', async () => (await day.status(orderId)) === 'review');
      return orderId;
    },
  },
  {
    shopper: 'Emeka',
    did: 'paid both of two tries',
    lost: 'a late webhook',
    foundBy: ['webhook', 'hint', 'schedule'],
    ends: 'paid',
    suspense: ['duplicate_payment'],
    play: async (day) => {
      const first = await day.checkout('emeka@example.com', basket('adire-scarf'));
      await day.atTheService(first.reference, 'fail');
      await day.until('the failure is known', async () => (await day.status(first.orderId)) === 'failed');
      const second = await day.checkout('emeka@example.com', { orderId: first.orderId });
      await day.atTheService(second.reference, 'pay');
      await day.until('the second try is paid', async () => (await day.status(first.orderId)) === 'paid');
      // The bank lets the first one through after all, and nobody is told.
      await day.atTheService(first.reference, 'pay', { notify: false });
      return first.orderId;
    },
  },
  {
    shopper: 'Fatou',
    did: 'left the page',
    lost: 'the sale',
    foundBy: [],
    ends: 'pending',
    suspense: [],
    play: async (day) => (await day.checkout('fatou@example.com', basket('cafe-touba', 3))).orderId,
  },
];

const PATIENCE_MS = 60_000;

/** Hands for a running server and its sandbox. */
export function createDay({ origin, program, services }: StartedServer): Day {
  const { database } = program;
  const ask = (url: string, body?: object, key: Record<string, string> = {}): Promise<Response> => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...key },
      body: JSON.stringify(body),
    };
    return fetch(url, body === undefined ? { redirect: 'manual' } : init);
  };
  const call = async (url: string, body?: object): Promise<Response> => {
    const answer = await ask(url, body);
    if (answer.status >= 400) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  };
  return {
    checkout: async (email, body) => {
      const key = { 'idempotency-key': newId() };
      const wish = 'orderId' in body ? body : { email, ...body };
      const end = systemClock.elapsedMs() + PATIENCE_MS;
      let answer = await ask(`${origin}/checkout`, wish, key);
      // As every storefront should: the same key goes on with the same order.
      while (answer.status === 503 && systemClock.elapsedMs() < end) {
        await sleep(1_000 * Number(answer.headers.get('retry-after') ?? 1));
        answer = await ask(`${origin}/checkout`, wish, key);
      }
      if (!answer.ok) throw new Error(`/checkout answered ${answer.status}: ${await answer.text()}`);
      return (await answer.json()) as { orderId: OrderId; reference: string };
    },
    atTheService: async (reference, deed, how = {}) => {
      await call(`${services.sandboxUrl ?? ''}/sandbox/transactions/${reference}/${deed}`, how);
    },
    atTheSandbox: async (path, body) => {
      await call(`${services.sandboxUrl ?? ''}/sandbox/${path}`, body);
    },
    triesToCheckout: async (email, body) => {
      const answer = await ask(`${origin}/checkout`, 'orderId' in body ? body : { email, ...body });
      const { orderId = '', reference = '' } = (await answer.json()) as Partial<Record<string, string>>;
      return { status: answer.status, orderId, reference };
    },
    isReady: async () => (await ask(`${origin}/readyz`)).ok,
    comesBack: async (reference) => {
      await call(`${origin}/checkout/return/${reference}`);
    },
    until: async (what, isTrue) => {
      const end = systemClock.elapsedMs() + PATIENCE_MS;
      while (!(await isTrue())) {
        if (systemClock.elapsedMs() > end) throw new Error(`waited in vain until ${what}`);
        await sleep(100);
      }
    },
    status: (orderId) => findOrderStatus(database, orderId),
    checks: (reference) => checksOf(database, reference),
  };
}
