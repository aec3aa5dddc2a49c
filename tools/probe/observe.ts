import { sleep, type Clock } from '../../src/platform/clock.ts';
import { newProbeReference, type Reference } from '../../src/platform/ids.ts';
import { formatMajor, minorDigits } from '../../src/platform/money.ts';
import { INITIALIZE_PATH, initializeBody, verifyPath } from '../../src/gateway/messages.ts';
import { at, stringOf, type Json } from '../../src/gateway/dialect/json-pointer.ts';
import { addressesIn } from './conclude-initialize.ts';
import { lookAtHistory } from './history.ts';
import type { Said } from './line.ts';
import type { Listener } from './listener.ts';
import type { ObserveParts, Observed, Sent } from './observed.ts';
import { changedWords, isOneOf, placesOf } from './places.ts';
import { awaitPayment } from './await-payment.ts';

/** The service did not let the probe go on. The message says what it said. */
export class ProbeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProbeError';
  }
}

/** So much more for each payment, in minor units: amounts that differ can be told apart, and none is whole. */
const STEP = 111n;
/** Times in seconds tell the first three payments apart, and with them the order of the list. */
const BETWEEN_MS = 1_100;
const TELL_APART = 3;

/** Asks everything there is to ask, in an order in which no answer spoils the next one. */
export async function observe(parts: ObserveParts): Promise<Observed> {
  const { line, stranger, person, clock, money } = parts;
  const { sent, unitSent, decimalsRefused } = await openPayments(parts);
  const [first] = sent;
  if (first === undefined) throw new ProbeError('no payment was opened');
  const skewSec = skewOf(first.before, clock);
  const [place] = addressesIn({ sent });
  const address = place === undefined ? null : (at(first.opened.json, place) as string);
  const paid = await awaitPayment(parts, first, address);
  const knownMs = clock.elapsedMs();
  await awaitHook(parts, first, paid.after);
  const ask = (name: string, reference: Reference): Promise<Said> =>
    line.ask({ name, method: 'GET', path: verifyPath(reference) });
  person.sees('asking what a service says to mistakes');
  const unknown = await ask('verify an unknown reference', newProbeReference());
  const last = sent.at(-1) ?? first;
  // On purpose, and with a reference of our own that nobody pays: the one place where a reference is sent twice.
  const repeated = await line.ask({
    name: 'initialize a reference again',
    method: 'POST',
    path: INITIALIZE_PATH,
    sent: last.opened.sent ?? '',
  });
  const wrongKey = await stranger.ask({
    name: 'verify with a wrong key',
    method: 'GET',
    path: verifyPath(first.reference),
  });
  person.sees('reading the history in every way that is known');
  const references = sent.map(({ reference }) => reference);
  const history = await lookAtHistory(line, {
    references,
    paidWords: paid.after === null ? [] : changedWords(first.before.json, paid.after.json),
    dialect: parts.dialect,
    clock,
    knownMs,
    maxCalls: parts.maxCalls,
    lagMs: parts.lagMs,
  });
  const tooMany = line.said().filter(({ status }) => status === 429);
  return {
    currency: money.currency,
    unitSent,
    decimalsRefused,
    sent,
    ...paid,
    unknown,
    repeated,
    wrongKey,
    history,
    askedAt: clock.now(),
    hooks: parts.listener === null ? null : hooksOf(parts.listener, references),
    skewSec,
    tooMany,
  };
}

type Opened = Pick<Observed, 'sent' | 'unitSent' | 'decimalsRefused'>;

async function openPayments(parts: ObserveParts): Promise<Opened> {
  const { money, person, payments } = parts;
  const sent: Sent[] = [];
  let unitSent: Observed['unitSent'] = 'major';
  let decimalsRefused: Said | null = null;
  for (let count = 0; count < payments; count += 1) {
    if (count > 0 && count < TELL_APART) await sleep(BETWEEN_MS);
    person.sees(`opening payment ${count + 1} of ${payments}`);
    const amount = money.amount + BigInt(count) * STEP;
    let payment = await open(parts, amount, unitSent);
    if (count === 0 && isRefusal(payment.opened) && (minorDigits(money.currency) ?? 0) > 0) {
      decimalsRefused = payment.opened;
      unitSent = 'minor';
      payment = await open(parts, amount, unitSent);
    }
    if (payment.opened.status === null || payment.opened.status >= 300)
      throw new ProbeError(
        `the service opens no checkout: HTTP ${String(payment.opened.status)}, ${payment.opened.text.slice(0, 300)}`,
      );
    sent.push({ ...payment, before: await verifyFirst(parts, payment.reference) });
  }
  return { sent, unitSent, decimalsRefused };
}

function isRefusal({ status }: Said): boolean {
  return status === 400 || status === 422;
}

async function open(
  { line, email, origin, money }: ObserveParts,
  amount: bigint,
  unit: Observed['unitSent'],
): Promise<Omit<Sent, 'before'>> {
  const reference = newProbeReference();
  const redirectUrl = `${origin}/checkout/return/${reference}`;
  const { currency } = money;
  const text = unit === 'major' ? formatMajor({ amount, currency }) : amount.toString();
  const sent = initializeBody({ email, amount: text, localCurrency: currency, reference, redirectUrl });
  const opened = await line.ask({
    name: `initialize in ${unit} units`,
    method: 'POST',
    path: INITIALIZE_PATH,
    sent,
  });
  return { reference, amount, redirectUrl, opened };
}

/** Until the answer is about our reference: some services know a payment only a while after they took it. */
async function verifyFirst({ line, clock, lagMs }: ObserveParts, reference: Reference): Promise<Said> {
  const end = clock.elapsedMs() + lagMs;
  for (;;) {
    const said = await line.ask({
      name: 'verify before paying',
      method: 'GET',
      path: verifyPath(reference),
    });
    if (isOneOf(said.json, [reference]) || clock.elapsedMs() > end) return said;
    await sleep(300);
  }
}

/** A webhook may name the payment only by the service's own id. */
async function awaitHook(
  { listener, person, hookMs, waitMs, clock }: ObserveParts,
  { reference }: Sent,
  after: Said | null,
): Promise<void> {
  if (listener === null || waitMs === null) return;
  const end = clock.elapsedMs() + hookMs;
  const names = placesOf(after?.json, isId).map((place) => stringOf(at(after?.json, place)) ?? reference);
  const isCome = (): boolean =>
    listener.hooks.some(({ body }) => [reference, ...names].some((name) => body.includes(name)));
  person.sees('waiting for a webhook');
  while (!isCome() && clock.elapsedMs() < end) await sleep(50);
}

function isId(value: Json): boolean {
  return typeof value === 'string' && /^(?=.*\d)\w{8,}$/.test(value);
}

/** Those that name our payments last: they say most. */
function hooksOf({ hooks }: Listener, references: readonly string[]): Observed['hooks'] {
  const isOurs = (body: Buffer): boolean => references.some((reference) => body.includes(reference));
  return [...hooks.filter(({ body }) => !isOurs(body)), ...hooks.filter(({ body }) => isOurs(body))];
}

function skewOf({ headers }: Said, clock: Clock): number | null {
  const { date } = headers;
  const ms = typeof date === 'string' ? Date.parse(date) : NaN;
  return Number.isNaN(ms) ? null : Math.round((ms - clock.now().getTime()) / 1_000);
}
