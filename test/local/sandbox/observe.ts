import { PROFILES, type ProfileName } from '../../../local/sandbox/profiles/all.ts';
import { control, orderText, receiver, start, until, type Hook } from './support.ts';

/** What one profile puts on the wire, from outside, as an integrator would see it. */
export type Seen = {
  opened: Said;
  again: Said;
  /** Verify in each state. */
  verified: Record<
    'pending' | 'in-review' | 'paid' | 'over' | 'under' | 'cancelled' | 'expired' | 'failed' | 'reversed',
    Said
  >;
  /** Verify of the pending one right after it was opened, and the list. */
  early: Said;
  listedEarly: Said;
  unknown: Said;
  history(query: string): Promise<Said>;
  /** What told the payment of `paid`. */
  hook: Hook;
  delivery: (typeof PROFILES)[ProfileName]['delivery'];
  /** Where the page sends the shopper after paying, and after leaving. */
  paidTo: string;
  leftTo: string;
  badKey: Said;
  outage: Said;
  tooMany: Said;
  balances: Said;
};

export type Said = { status: number; text: string; headers: Headers; json: unknown };

export const SECRET = 'whsec_of_this_test';
const REDIRECT = 'https://shop.example/back?order=7';

export async function observe(profile: ProfileName): Promise<Seen> {
  const shop = await receiver();
  const sandbox = await start({ profile, webhookUrl: null });
  const minor = PROFILES[profile].unit === 'minor';
  const ask = async (path: string, init: RequestInit = {}, key = sandbox.testKey): Promise<Said> => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    return said(await fetch(`${sandbox.url}/v1${path}`, { ...init, headers }));
  };
  const open = (reference: string): Promise<Said> => {
    const changes = {
      reference: JSON.stringify(reference),
      redirectUrl: JSON.stringify(REDIRECT),
      amount: minor ? '2500' : '25.00',
    };
    return ask('/transactions/initialize', { method: 'POST', body: orderText(changes) });
  };
  const verify = (reference: string): Promise<Said> => ask(`/transactions/verify/${reference}`);
  const hand = (path: string, body: object): Promise<unknown> => control(sandbox, path, body);

  const names = [
    'pending',
    'in-review',
    'paid',
    'over',
    'under',
    'cancelled',
    'expired',
    'failed',
    'reversed',
  ] as const;
  const opened = await open('pending');
  const [early, listedEarly] = [await verify('pending'), await ask('/transactions/history')];
  for (const name of names.slice(1)) await open(name);
  const again = await open('pending');
  for (const name of ['in-review', 'cancelled', 'expired', 'failed'])
    await hand(`transactions/${name}/move`, { to: name });
  await hand('transactions/over/pay', { amount: '30.00' });
  await hand('transactions/under/pay', { amount: '10.00' });
  await hand('transactions/reversed/pay', {});
  await hand('transactions/reversed/reverse', {});
  sandbox.setWebhookUrl(shop.url);
  const page = await pageOf(sandbox.url, 'paid');
  const paidTo = (await press(page, 'pay')).headers.get('location') ?? '';
  await until(() => shop.hooks.length > 0);
  await until(async () => (await verify('paid')).text !== (await verify('nobody')).text);
  const leftTo = (await press(await pageOf(sandbox.url, 'pending'), 'leave')).headers.get('location') ?? '';
  const verified = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await verify(name)] as const)),
  ) as Seen['verified'];
  const [hook] = shop.hooks;
  if (hook === undefined) throw new Error('no webhook came');
  await hand('available', {});
  const balances = await ask(PROFILES[profile].balances.path);
  await hand('outage', { status: 503 });
  const outage = await verify('paid');
  await hand('outage', { status: null });
  const unknown = await verify('nobody');
  const badKey = await ask('/transactions/history', {}, 'sk_test_nobody');
  await hand('limit', { callsPerSecond: 0 });
  const tooMany = await verify('paid');
  await hand('limit', { callsPerSecond: null });
  return {
    opened,
    again,
    verified,
    early,
    listedEarly,
    unknown,
    history: (query) => ask(`/transactions/history${query}`),
    hook,
    delivery: PROFILES[profile].delivery,
    paidTo,
    leftTo,
    badKey,
    outage,
    tooMany,
    balances,
  };
}

async function said(response: Response): Promise<Said> {
  const text = await response.text();
  return { status: response.status, text, headers: response.headers, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

async function pageOf(url: string, reference: string): Promise<string> {
  const entry = (await (await fetch(`${url}/sandbox/transactions/${reference}`)).json()) as {
    checkoutUrl: string;
  };
  return entry.checkoutUrl;
}

function press(page: string, deed: string): Promise<Response> {
  return fetch(`${page}/${deed}`, { method: 'POST', redirect: 'manual' });
}
