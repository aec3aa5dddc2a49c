import { createHmac } from 'node:crypto';

import { afterAll, describe, expect, test } from '@jest/globals';

import { PROFILE_NAMES, type ProfileName } from '../../../local/sandbox/profiles/all.ts';
import { VARIANTS, type Variant } from '../../../local/sandbox/profiles/variants.ts';
import { someOf } from '../../support/extent.ts';
import { observe, SECRET, type Said, type Seen } from './observe.ts';
import { cleanUp } from './support.ts';

afterAll(cleanUp);

type Check = (seen: Seen) => boolean | Promise<boolean>;

const at = ({ json }: Said, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | null | undefined)?.[key], json);
const isPage = (value: unknown): boolean => typeof value === 'string' && /\/checkout\/\w{24}$/.test(value);
const urlAt =
  (pointer: string): Check =>
  ({ opened }) =>
    isPage(at(opened, pointer));
const flag =
  (pointer: string, value: unknown): Check =>
  ({ opened, verified }) =>
    at(opened, pointer) === value && at(verified.paid, pointer) === value;
const word =
  (state: keyof Seen['verified'], text: string): Check =>
  ({ verified }) =>
    verified[state].text.includes(`:"${text}"`);
const field =
  (pattern: RegExp): Check =>
  ({ verified }) =>
    pattern.test(verified.paid.text);
const hook =
  (pattern: RegExp): Check =>
  (seen) =>
    pattern.test(seen.hook.body);
const signed =
  (header: string, make: (body: string, seen: Seen) => string): Check =>
  (seen) =>
    seen.hook.headers[header] === make(seen.hook.body, seen);
const hmac = (text: string, algorithm: string, encoding: 'hex' | 'base64'): string =>
  createHmac(algorithm, SECRET).update(text).digest(encoding);
const limited =
  (header: string | null, pattern: RegExp): Check =>
  ({ tooMany }) =>
    tooMany.status === 429 &&
    pattern.test(header === null ? tooMany.text : (tooMany.headers.get(header) ?? ''));
const silent: Check = ({ tooMany }) =>
  !['retry-after', 'x-ratelimit-reset', 'ratelimit-reset'].some((name) => tooMany.headers.has(name));
const backTo =
  (pattern: RegExp): Check =>
  ({ paidTo }) =>
    pattern.test(paidTo);
/** Two pages that differ, and the second one begins where the first one ends. */
const pages =
  (first: string, second: string): Check =>
  async ({ history }) => {
    const [a, b, both] = [await history(first), await history(second), namesIn(await history('?'))];
    const rows = [...namesIn(a), ...namesIn(b)];
    return rows.length === 4 && rows.join() === both.slice(0, 4).join();
  };
const namesIn = ({ text }: Said): string[] =>
  [
    ...text.matchAll(
      /"(?:reference|reference_id|paymentReference|order_id|client_reference_id)":"([\w-]+)"/g,
    ),
  ].map(([, name = '']) => name);
const listed =
  (query: string, pointer: string, value: unknown): Check =>
  async ({ history }) =>
    at(await history(query), pointer) === value;

const CHECKS: Record<Variant, Check> = {
  'initialize: the URL is data': urlAt('/data'),
  'initialize: data.authorizationUrl': urlAt('/data/authorizationUrl'),
  'initialize: data.authorization_url': urlAt('/data/authorization_url'),
  'initialize: data.checkout_url': urlAt('/data/checkout_url'),
  'initialize: data.checkoutUrl': urlAt('/data/checkoutUrl'),
  'initialize: data.checkoutLink': urlAt('/data/checkoutLink'),
  'initialize: data.link': urlAt('/data/link'),
  'initialize: data.payments.redirectLink': urlAt('/data/payments/redirectLink'),
  'initialize: responseBody.checkoutUrl': urlAt('/responseBody/checkoutUrl'),
  'initialize: top-level url': urlAt('/url'),
  'initialize: short_url': urlAt('/short_url'),
  'initialize: invoice_url': urlAt('/invoice_url'),
  'initialize: _links.checkout.href': urlAt('/_links/checkout/href'),
  'initialize: siblings that look like URLs and are null': ({ opened }) =>
    at(opened, '/data/deepLink') === null,

  'success flag: true': flag('/status', true),
  'success flag: "true"': flag('/success', 'true'),
  'success flag: "success"': flag('/status', 'success'),
  'success flag: "SUCCESS"': flag('/status', 'SUCCESS'),
  'success flag: 200': flag('/status', 200),
  'success flag: "00"': flag('/code', '00'),
  'success flag: "0"': flag('/responseCode', '0'),
  'success flag: 0': flag('/resultCode', 0),
  'success flag: none': ({ verified }) => at(verified.paid, '/status') === 'paid',

  'duplicate reference: 400': ({ again }) => again.status === 400,
  'duplicate reference: 409': ({ again }) => again.status === 409,
  'duplicate reference: 422': ({ again }) => again.status === 422,
  'duplicate reference: 200 with the first session': ({ opened, again }) =>
    again.status === 200 && at(again, '/data/checkoutUrl') === at(opened, '/data/checkoutUrl'),
  'duplicate reference: 200 with a failure inside': ({ again }) =>
    again.status === 200 && at(again, '/status') === false,
  'duplicate reference: the URL cannot be had again': ({ again }) => !again.text.includes('/checkout/'),

  'verify: bare record': ({ verified }) => at(verified.paid, '/reference') === 'paid',
  'verify: record at data': ({ verified }) => at(verified.paid, '/data/reference') === 'paid',
  'verify: record at responseBody': ({ verified }) =>
    at(verified.paid, '/responseBody/paymentReference') === 'paid',
  'verify: record at data.data': ({ verified }) => at(verified.paid, '/data/data/reference') === 'paid',
  'verify: two status fields with overlapping words': ({ verified }) =>
    at(verified.pending, '/status') === 'open' &&
    at(verified.pending, '/payment_status') === 'open' &&
    at(verified.paid, '/status') !== at(verified.paid, '/payment_status'),
  'verify: a reference of the service beside ours': field(/"reference":"NIP\w+","merchantReference":"paid"/),
  'verify: an id too large for a double': ({ verified }) =>
    Number(/"id":(\d+)/.exec(verified.paid.text)?.[1]) > Number.MAX_SAFE_INTEGER,

  'status: UPPER': word('paid', 'SUCCESS'),
  'status: lower': word('failed', 'failed'),
  'status: Title': word('paid', 'Completed'),
  'status: success': word('paid', 'success'),
  'status: successful': word('paid', 'successful'),
  'status: succeeded': word('paid', 'succeeded'),
  'status: complete': word('paid', 'complete'),
  'status: completed': word('paid', 'completed'),
  'status: finished': word('paid', 'finished'),
  'status: paid': word('paid', 'paid'),
  'status: cancelled': word('cancelled', 'CANCELLED'),
  'status: canceled': word('cancelled', 'canceled'),
  'status: failed/cancelled': word('cancelled', 'failed/cancelled'),
  'status: a space inside': word('reversed', 'REFUND PENDING'),
  'status: in review': word('in-review', 'IN_REVIEW'),
  'status: a word for too much': word('over', 'OVERPAID'),
  'status: a word for too little': word('under', 'partially_paid'),
  'status: expired': word('expired', 'EXPIRED'),
  'status: abandoned, and not final': ({ early, verified }) =>
    early.text.includes('"abandoned"') && verified.paid.text.includes('"success"'),
  'status: reversed after paid': word('reversed', 'REVERSED'),
  'status: a word that nobody explains': word('in-review', 'COLLECTED'),

  'amount: a number': field(/"amount":25\.00,/),
  'amount: a text': field(/"amount":"25\.00"/),
  'amount: major': field(/"amount":25\.00,/),
  'amount: minor': field(/"amount":2500,/),
  'amount: {value, currency}': field(/"amount":\{"value":"25\.00","currency":"NGN"\}/),
  'amount: a text in verify and a number in the webhook': (seen) =>
    seen.verified.paid.text.includes('"amountPaid":"25.00"') && seen.hook.body.includes('"amountPaid":25.00'),
  'amount: beside fees, charge and settlement': field(
    /"amount":25\.00,"charged_amount":25\.07,"app_fee":0\.07,"amount_settled":24\.93/,
  ),
  'amount: beside requested': ({ verified }) =>
    verified.under.text.includes('"amount":1000,"requested_amount":2500'),
  'amount: beside received': ({ verified }) => verified.under.text.includes('"amount_paid":1000'),
  'amount: beside converted': field(/"actually_paid":25\.00,"price_currency":"ngn","pay_amount":6\.25/),
  'amount: asked, and what came beside it': ({ verified }) =>
    verified.under.text.includes('"status":"SUCCESS","amount":25.00,"amountReceived":10.00'),
  'amount: with the fee on top': field(/"amount":"2507","base_amount":"2500","fee":"7"/),
  'amount: minor, as a text': field(/"base_amount":"2500"/),
  'amount: more decimals than the currency has': field(/"amount":25\.0000,/),
  'amount: {value, currency} in verify and a number in the list': async (seen) =>
    field(/"amount":\{"value":"25\.00"/)(seen) === true &&
    (await seen.history('')).text.includes('"sum":25.00,'),

  'currency: capitals': field(/"currency":"NGN"/),
  'currency: small letters': field(/"currency":"ngn"/),
  'currency: the settlement currency beside it': field(/"outcome_currency":"usd"/),

  'time: ISO with Z': field(/"createdAt":"\d{4}-\d\d-\d\dT[\d:.]+Z"/),
  'time: ISO with an offset': field(/"created_at":"[\dT:-]+\+01:00"/),
  'time: ISO without a zone': field(/"createdAt":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"/),
  'time: dd/MM/yyyy, twelve hours': field(/"createdOn":"\d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d [AP]M"/),
  'time: seconds since 1970': field(/"created":\d{10},/),
  'time: milliseconds since 1970': field(/"created":\d{13}\b/),
  'time: 0 for unset': ({ verified }) => verified.pending.text.includes('"paid_at":0'),
  'time: absent': ({ verified }) => !/created|updated|\d{4}-\d\d-\d\dT/i.test(verified.paid.text),

  'unknown reference: 404': ({ unknown }) => unknown.status === 404,
  'unknown reference: 400': ({ unknown }) => unknown.status === 400,
  'unknown reference: 200 with a failure inside': ({ unknown }) =>
    unknown.status === 200 && at(unknown, '/status') === 'false',
  'unknown reference: 200 and null': ({ unknown }) => unknown.status === 200 && unknown.json === null,
  "unknown reference: 200 and somebody else's record": ({ unknown }) =>
    unknown.status === 200 && unknown.text.includes('"reference":"reversed"'),
  'unknown reference: 404 for a while, and real': ({ early, verified }) =>
    early.status === 404 && verified.pending.status === 200,

  'history: page and limit': pages('?page=1&limit=2', '?page=2&limit=2'),
  'history: page and perPage': pages('?page=1&perPage=2', '?page=2&perPage=2'),
  'history: page and size': pages('?page=0&size=2', '?page=1&size=2'),
  'history: page[number] and page[size]': pages(
    '?page%5Bnumber%5D=1&page%5Bsize%5D=2',
    '?page%5Bnumber%5D=2&page%5Bsize%5D=2',
  ),
  'history: skip and take': pages('?skip=0&take=2', '?skip=2&take=2'),
  'history: skip and count': pages('?skip=0&count=2', '?skip=2&count=2'),
  'history: behind an id': async (seen) => {
    const last = at(await seen.history('?limit=2'), '/data/1/id');
    return pages('?limit=2', `?limit=2&starting_after=${String(last)}`)(seen);
  },
  'history: opaque cursor': async (seen) => {
    const next = String(at(await seen.history('?limit=2'), '/pagination/next'));
    return !next.includes(':') && pages('?limit=2', `?limit=2&cursor=${next}`)(seen);
  },
  'history: next link': async (seen) => {
    const next = String(at(await seen.history('?limit=2'), '/_links/next/href'));
    return pages('?limit=2', next.slice(next.indexOf('?')))(seen);
  },
  'history: only for named days': async ({ history }) =>
    (await history('')).status === 400 &&
    namesIn(await history('?from=2020-01-01&to=2020-02-01')).length === 0 &&
    namesIn(await history(`?from=${days(-1)}&to=${days(1)}`)).length === 9,
  'history: too many days are refused': async ({ history }) =>
    (await history(`?from=${days(-28)}&to=${days(1)}`)).status === 200 &&
    (await history(`?from=${days(-30)}&to=${days(1)}`)).status === 400,
  'history: too many days are clamped': async ({ history }) =>
    namesIn(await history(`?from=${days(-30)}&to=${days(1)}`)).length === 9 &&
    namesIn(await history(`?from=${days(-60)}&to=${days(1)}`)).length === 0 &&
    (await history(`?from=${days(-60)}&to=${days(1)}`)).status === 200,
  'history: unknown parameters are ignored, and every page is the first': async ({ history }) => {
    const first = await history('?count=2&page=1');
    return namesIn(first).length === 2 && (await history('?count=2&page=2')).text === first.text;
  },
  'history: a bare array, parameters ignored': async ({ history }) => {
    const all = await history('');
    return Array.isArray(all.json) && (await history('?page=2&limit=1')).text === all.text;
  },
  'history: told in meta': listed('?perPage=2', '/meta/pageCount', 5),
  'history: told in meta.page_info': listed('?size=2', '/meta/page_info/total_pages', 5),
  'history: told in pagination': listed('?page%5Bsize%5D=2', '/pagination/total_pages', 5),
  'history: told beside the rows': listed('?limit=2', '/total', '9'),
  'history: told in headers': async ({ history }) => {
    const { headers, text } = await history('?take=2');
    return headers.get('x-total-count') === '9' && !text.includes('9}');
  },
  'history: told nowhere': async ({ history }) =>
    Object.keys((await history('?count=2')).json as object).join() === 'entity,count,items' &&
    at(await history('?count=2'), '/count') === 2,
  'history: page numbers are texts': listed('?limit=2&page=1', '/page', '1'),
  'history: counted from 0': async ({ history }) =>
    namesIn(await history('?limit=2')).join() === namesIn(await history('?limit=2&page=0')).join(),
  'history: a limit too large is clamped': async ({ history }) => (await history('?take=999')).status === 200,
  'history: a limit too large is refused': async ({ history }) =>
    (await history('?limit=999')).status === 400,
  'history: newest first': async ({ history }) => namesIn(await history(''))[0] === 'reversed',
  'history: one reference in several rows': async ({ history }) =>
    namesIn(await history('')).filter((name) => name === 'paid').length === 2,
  'history: fields named otherwise than in verify': async ({ history }) =>
    (await history('')).text.includes('"order":"paid","state":"Paid","sum":25.00,"ccy":"ngn"'),
  'history: next link to another host': async (seen) => {
    const next = String(at(await seen.history('?limit=5'), '/links/next'));
    return next.startsWith('http://10.0.0.7/v1/transactions/history?');
  },
  'history: a cursor beside the rows': async (seen) => {
    const next = String(at(await seen.history('?size=2'), '/next_page_token'));
    return pages('?size=2', `?size=2&page_token=${next}`)(seen);
  },
  'history: oldest first': async (seen) =>
    namesIn(await seen.history(''))[0] === 'pending' && pages('?n=2&p=1', '?n=2&p=2')(seen),
  'history: oldest first, behind an id, no end told': async (seen) => {
    const last = at(await seen.history('?limit=2'), '/1/id');
    return (
      namesIn(await seen.history(''))[0] === 'pending' &&
      pages('?limit=2', `?limit=2&since_id=${String(last)}`)(seen)
    );
  },
  'history: behind verify': ({ early, listedEarly }) =>
    early.status === 200 && namesIn(listedEarly).length === 0,
  'history: named days, in pages': async ({ history }) => {
    const window = `startDate=${dateOf(-1)}&endDate=${dateOf(1)}`;
    const [one, two] = [await history(`?${window}&limit=5`), await history(`?${window}&limit=5&page=2`)];
    return (await history('')).status === 400 && [...namesIn(one), ...namesIn(two)].length === 9;
  },
  'history: named days, without a time of day': async ({ history }) =>
    namesIn(await history(`?startDate=${dateOf(-1)}&endDate=${dateOf(1)}&limit=25`)).length === 9 &&
    (await history(`?startDate=${days(-1)}&endDate=${days(1)}`)).status === 400,
  'history: a reversal is a row with a minus': async ({ history }) =>
    /"reference":"reversed","status":"REVERSED","amount":-25\.00.*"reference":"reversed","status":"SUCCESS","amount":25\.00/.test(
      (await history('')).text,
    ),

  'webhook: wrapped': hook(/"data":\{.*"reference":"paid"/),
  'webhook: flat': hook(/^\{"id":"\w+","reference":"paid"/),
  'webhook: capitalised keys': hook(/"Reference":"paid","Status":"Completed"/),
  "webhook: a form with the service's id only": (seen) =>
    /^id=\w{24}$/.test(seen.hook.body) &&
    seen.hook.headers['content-type'] === 'application/x-www-form-urlencoded',
  'webhook: named by event': hook(/"event":"/),
  'webhook: named by eventType': hook(/"eventType":"/),
  'webhook: named by event_type': hook(/"event_type":"/),
  'webhook: named by type': hook(/"type":"/),
  'webhook: named by Event': hook(/"Event":"/),
  'webhook: only payments are told': ({ delivery }) => 'tells' in delivery && delivery.tells === 'payments',
  'webhook: another id for each attempt': hook(/^\{"id":"evt_\d{13}"/),

  'signature: SHA-256 in hex': signed('x-signature', (body) => hmac(body, 'sha256', 'hex')),
  'signature: SHA-512 in hex': signed('x-signature', (body) => hmac(body, 'sha512', 'hex')),
  'signature: hex in capitals': signed('x-signature', (body) => hmac(body, 'sha256', 'hex').toUpperCase()),
  'signature: base64': signed('x-signature', (body) => hmac(body, 'sha256', 'base64')),
  'signature: behind sha256=': signed('x-signature', (body) => `sha256=${hmac(body, 'sha256', 'hex')}`),
  'signature: t=, v1=': signed('x-signature', (body, seen) => {
    const t = /t=(\d+)/.exec(String(seen.hook.headers['x-signature']))?.[1] ?? '';
    return `t=${t},v1=${hmac(`${t}.${body}`, 'sha256', 'hex')}`;
  }),
  'signature: the secret itself': signed('x-secret-hash', () => SECRET),
  'signature: none': (seen) => !Object.keys(seen.hook.headers).some((name) => name.startsWith('x-')),
  'signature: over timestamp.body': signed('x-signature', (body, seen) =>
    hmac(`${String(seen.hook.headers['x-timestamp'])}.${body}`, 'sha256', 'hex'),
  ),
  'signature: by a recipe of its own': (seen) => {
    const fields = seen.hook.body.slice(1, -1).split(',"');
    const sorted = fields.map((text) => text.replace(/^"/, '')).sort();
    const text = `{"${sorted.join(',"')}}`;
    return text !== seen.hook.body && seen.hook.headers['x-sorted-signature'] === hmac(text, 'sha512', 'hex');
  },
  'signature: SHA-512 in base64': signed('x-auth-signature', (body) => hmac(body, 'sha512', 'base64')),
  'signature: behind another prefix': signed(
    'x-signature',
    (body) => `hmac-sha256=${hmac(body, 'sha256', 'base64')}`,
  ),
  'signature: a list with names of its own': signed('x-signature', (body, seen) => {
    const ts = /ts=(\d+)/.exec(String(seen.hook.headers['x-signature']))?.[1] ?? '';
    return `ts=${ts}, sig=${hmac(`${ts}.${body}`, 'sha256', 'hex')}`;
  }),
  'signature: beside a time that it does not cover': (seen) =>
    /^\d{13}$/.test(String(seen.hook.headers['x-timestamp'])) &&
    signed('x-webhook-signature', (body) => hmac(body, 'sha512', 'hex'))(seen) === true,

  'acknowledgement: any 2xx': ({ delivery }) => delivery.takes === 'any 2xx',
  'acknowledgement: exactly 200': ({ delivery }) => delivery.takes === 'exactly 200',
  'acknowledgement: no second attempt': ({ delivery }) => delivery.maxAttempts === 1,
  'acknowledgement: a 4xx ends the delivery': ({ delivery }) => delivery.on4xx === 'end the delivery',
  'acknowledgement: a 4xx switches the address off': ({ delivery }) =>
    delivery.on4xx === 'switch the address off',

  'redirect: nothing added': backTo(/back\?order=7$/),
  'redirect: reference': backTo(/&reference=paid$/),
  'redirect: trxref and reference': backTo(/&trxref=paid&reference=paid$/),
  'redirect: tx_ref, transaction_id, status': backTo(/&tx_ref=paid&transaction_id=\w+&status=successful$/),
  'redirect: behind a second question mark': backTo(/back\?order=7\?payment_link/),
  'redirect: every parameter twice': backTo(
    /&reference=paid&status=Completed&reference=paid&status=Completed$/,
  ),
  'redirect: the same for leaving': ({ paidTo, leftTo }) => paidTo === leftTo,
  'redirect: the browser stays': backTo(/^\/checkout\/\w{24}$/),

  'errors: enveloped': ({ badKey }) => badKey.status === 401 && at(badKey, '/code') === 401,
  'errors: HTML from a proxy': ({ outage }) => outage.status === 503 && outage.text.startsWith('<html>'),
  'errors: an empty body': ({ badKey }) => badKey.status === 401 && badKey.text === '',
  'errors: 200 with a failure inside': ({ unknown }) =>
    unknown.status === 200 && at(unknown, '/success') === 'false' && at(unknown, '/code') === 404,
  'errors: cut off': ({ outage }) => outage.status === 503 && outage.json === undefined,

  'too many calls: Retry-After in seconds': limited('retry-after', /^1$/),
  'too many calls: Retry-After as a date': limited('retry-after', / GMT$/),
  'too many calls: reset since 1970': limited('x-ratelimit-reset', /^\d{10}$/),
  'too many calls: reset in seconds': limited('ratelimit-reset', /^1$/),
  'too many calls: nothing said': (seen) => seen.tooMany.status === 429 && Boolean(silent(seen)),
  'too many calls: a lock-out told in a message': (seen) =>
    Boolean(silent(seen)) && Boolean(limited(null, /blocked for \d+ minutes/)(seen)),

  'balances: a list by currency': ({ balances }) => at(balances, '/data/0/currency') === 'NGN',
  'balances: an object by currency': ({ balances }) => at(balances, '/data/NGN/available_balance') === 65,
  'balances: a number by currency': ({ balances }) => at(balances, '/data/NGN') === 65,
  'balances: one object': ({ balances }) => at(balances, '/responseBody/availableBalance') === '65.00',
  'balances: available and pending as lists': ({ balances }) =>
    at(balances, '/available/0/amount') === 6500 && at(balances, '/pending/0/amount') === 0,
  'balances: numbers': ({ balances }) => at(balances, '/data/0/available') === 65,
  'balances: texts': ({ balances }) => at(balances, '/data/0/availableBalance') === '65.00',
  'balances: major': ({ balances }) => balances.text.includes('"available":65.00'),
  'balances: minor': ({ balances }) => at(balances, '/data/0/balance') === 6500,
};

function days(count: number): string {
  return new Date(performance.timeOrigin + performance.now() + count * 86_400_000).toISOString();
}

function dateOf(count: number): string {
  return days(count).slice(0, 10);
}

const seenBy = new Map<ProfileName, Promise<Seen>>();
function seenOf(profile: ProfileName): Promise<Seen> {
  const seen = seenBy.get(profile) ?? observe(profile);
  seenBy.set(profile, seen);
  return seen;
}

describe.each(someOf(PROFILE_NAMES, 6))('profile %s shows', (profile) => {
  const shown = (Object.keys(VARIANTS) as Variant[]).filter((variant) => VARIANTS[variant] === profile);
  test.each(shown)('%s', async (variant) => {
    expect(await CHECKS[variant](await seenOf(profile))).toBe(true);
  });
});
