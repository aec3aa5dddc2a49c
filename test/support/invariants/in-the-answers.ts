import type { Exchange } from '../traffic/exchanges.ts';
import type { Traffic } from '../traffic/traffic.ts';
import { isEmail } from './leaks.ts';
import { elementsOf, strayMarkup } from './markup.ts';

/** What must hold of everything that we answered: I10, I14, I24, I25, I26. */
export function inTheAnswers(traffic: Traffic): string[] {
  const answered = traffic.exchanges.filter(({ endedMs }) => endedMs !== null);
  return [
    ...answered.flatMap((exchange) => [
      ...addresses(exchange, traffic),
      ...refusal(exchange),
      ...page(exchange, traffic),
    ]),
    ...oneAnswerPerKey(answered),
    ...oneWayToSayNothing(answered),
  ];
}

function called({ method, path }: Exchange): string {
  return `${method} ${path.slice(0, 80)}`;
}

function typeOf({ headers }: Exchange): string {
  return String(headers['content-type'] ?? '');
}

/** I14: an address that we send a browser to is ours or a checkout page's. */
function addresses(exchange: Exchange, { own, service }: Traffic): string[] {
  const { headers, body } = exchange;
  const found: string[] = typeof headers.location === 'string' ? [headers.location] : [];
  if (typeOf(exchange).includes('json') && exchange.status === 201) {
    const { checkoutUrl } = JSON.parse(body) as { checkoutUrl?: string };
    if (checkoutUrl !== undefined) found.push(checkoutUrl);
  }
  if (typeOf(exchange).startsWith('text/html')) {
    const attributes = elementsOf(body).flatMap(({ attributes: { href, src, action } }) => [
      href,
      src,
      action,
    ]);
    // The pages' icon: nothing is loaded.
    found.push(
      ...(attributes.filter((address) => address !== undefined && address !== 'data:,') as string[]),
    );
  }
  return found
    .filter((address) => !mayBeOpened(address, own, service))
    .map((address) => `I14: ${called(exchange)} sends a browser to ${address.slice(0, 80)}`);
}

function mayBeOpened(address: string, own: string, service: string): boolean {
  if (/[\s\\]/.test(address) || !URL.canParse(address, own)) return false;
  const { origin, username, password } = new URL(address, own);
  return (origin === own || origin === service) && username + password === '';
}

const SECRETS: [string, RegExp][] = [
  ['a stack', /(?:\n|\\n)\s+at |node_modules|\.tsx?\b/],
  [
    'SQL',
    /\b(?:SELECT .* FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b|relation \\?"|violates .* constraint/,
  ],
  ['a path', /\/(?:home|root|tmp|usr|var|opt)\//],
];

/** I24: a refusal is a problem document, or a page for a browser, and tells nothing of what is inside. */
function refusal(exchange: Exchange): string[] {
  const { method, status, body, path } = exchange;
  if (status < 400 || method === 'HEAD') return [];
  const lines: string[] = [];
  const say = (what: string): number => lines.push(`I24: ${called(exchange)}, ${status}, ${what}`);
  if (!typeOf(exchange).startsWith('text/html') && !isProblem(exchange)) say('is no problem document');
  // The client's own words come back in `instance`.
  const own = body.replace(JSON.stringify(path.split('?')[0]), '""');
  for (const [what, pattern] of SECRETS) if (pattern.test(own)) say(`tells ${what}`);
  if (isEmail(own)) say('tells an e-mail address');
  return lines;
}

function isProblem(exchange: Exchange): boolean {
  if (!typeOf(exchange).startsWith('application/problem+json')) return false;
  const { type, title, status, instance } = JSON.parse(exchange.body) as Record<string, unknown>;
  const isWorded = [type, title].every((text) => typeof text === 'string' && text !== '');
  return isWorded && status === exchange.status && instance === exchange.path.split('?')[0];
}

const ON_EVERY_PAGE: [string, RegExp][] = [
  ['content-security-policy', /frame-ancestors 'none'/],
  ['content-security-policy', /default-src 'none'/],
  ['x-content-type-options', /^nosniff$/],
  ['referrer-policy', /^(?:no-referrer|same-origin)$/],
  ['cache-control', /no-store/],
];
const NEVER = new Set(['iframe', 'object', 'embed', 'base', 'style', 'img onerror']);

/** I25: pages carry their headers and nothing that runs but our own script. */
function page(exchange: Exchange, { own }: Traffic): string[] {
  if (!typeOf(exchange).startsWith('text/html')) return [];
  const lines = ON_EVERY_PAGE.filter(
    ([name, wanted]) => !wanted.test(String(exchange.headers[name] ?? '')),
  ).map(([name, wanted]) => `${name} does not say ${wanted.source}`);
  if (strayMarkup(exchange.body)) lines.push('it holds markup that is none of its own');
  for (const { name, attributes } of elementsOf(exchange.body)) {
    if (NEVER.has(name)) lines.push(`it holds <${name}>`);
    const handler = Object.keys(attributes).find((attribute) => /^(?:on|style$)/i.test(attribute));
    if (handler !== undefined) lines.push(`<${name}> has ${handler}`);
    if (name !== 'script') continue;
    const { src } = attributes;
    if (src === undefined || !URL.canParse(src, own) || new URL(src, own).origin !== own)
      lines.push('it runs a script that is not ours');
  }
  return lines.map((line) => `I25: ${called(exchange)}: ${line}`);
}

/**
 * I10: one key, one order, one answer; another request under that key gets none. By order of arrival and
 * answer.
 */
function oneAnswerPerKey(answered: readonly Exchange[]): string[] {
  const keyed = answered.filter(
    ({ method, path, asked }) =>
      method === 'POST' && path === '/checkout' && asked.headers['idempotency-key'],
  );
  const lines: string[] = [];
  for (const first of keyed.filter(({ status }) => status === 201 || status === 303)) {
    const key = String(first.asked.headers['idempotency-key']);
    const others = keyed.filter((other) => other !== first && other.asked.headers['idempotency-key'] === key);
    for (const other of others) {
      const isSame = requestOf(other) === requestOf(first);
      const gave = other.status === 201 || other.status === 303;
      const isLater = other.startedMs > (first.endedMs ?? Infinity);
      if (gave && (!isSame || answerOf(other) !== answerOf(first)))
        lines.push(`I10: key ${key} gave two answers`);
      // Too busy is no answer, and may be said at any time.
      else if (isLater && isSame && !gave && other.status !== 429 && other.status !== 503)
        lines.push(`I10: key ${key} gave its answer once, and ${other.status} to the same request later`);
      else if (isLater && !isSame && other.status < 400) lines.push(`I10: key ${key} served another request`);
    }
  }
  return [...new Set(lines)];
}

/** The request without the order of its JSON's fields. */
function requestOf({ asked }: Exchange): string {
  try {
    const sorted = (value: unknown): unknown =>
      typeof value !== 'object' || value === null || Array.isArray(value)
        ? value
        : Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
    return JSON.stringify(JSON.parse(asked.body), (_key, value: unknown) => sorted(value));
  } catch {
    return asked.body;
  }
}

function answerOf({ status, body, headers }: Exchange): string {
  return status === 303 ? String(headers.location) : body;
}

const BY_TOKEN = /^(\/orders\/|\/shop\/orders\/|\/checkout\/return\/)[^/?]*(\/events)?(?:\?.*)?$/;
/** Differ between any two answers, or follow from the length of the address. */
const OF_THE_MOMENT = new Set(['date', 'content-length', 'etag', 'connection', 'keep-alive']);

/** I26: an address by token says "nothing here" in the same bytes, whichever token it was and why. */
function oneWayToSayNothing(answered: readonly Exchange[]): string[] {
  const ways = new Map<string, Map<string, Exchange>>();
  for (const exchange of answered) {
    const route = BY_TOKEN.exec(exchange.path);
    if (exchange.status !== 404 || exchange.method !== 'GET' || route === null) continue;
    const { headers, body, path } = exchange;
    const lasting = Object.entries(headers).filter(([name]) => !OF_THE_MOMENT.has(name));
    const bytes = JSON.stringify([lasting, body.replace(JSON.stringify(path.split('?')[0]), '""')]);
    const group = `${route[1] ?? ''} ${typeOf(exchange)}`;
    ways.set(group, (ways.get(group) ?? new Map<string, Exchange>()).set(bytes, exchange));
  }
  return [...ways]
    .filter(([, answers]) => answers.size > 1)
    .map(([group, answers]) => `I26: ${group} says "nothing here" in ${answers.size} ways`);
}
