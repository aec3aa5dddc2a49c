import { config as loadEnvFile } from 'dotenv';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSandbox, type Sandbox } from '../local/sandbox/sandbox.ts';
import { loadConfig, type Config } from '../src/config.ts';
import { fromServiceAmount } from '../src/gateway/amounts.ts';
import { LOOPBACK } from '../src/gateway/checkout-url.ts';
import { checkedAdapter } from '../src/gateway/checked-adapter.ts';
import { createClient, type Answer } from '../src/gateway/client.ts';
import { KeyRefused, Unanswered } from '../src/gateway/errors.ts';
import type { Evidence } from '../src/gateway/evidence.ts';
import type { Service } from '../src/gateway/gateway.ts';
import { initialize } from '../src/gateway/initialize.ts';
import { createRedactor } from '../src/gateway/redact.ts';
import { createReferences } from '../src/gateway/references.ts';
import { verify } from '../src/gateway/verify.ts';
import { loadAdapter } from '../src/load-adapter.ts';
import { parseMajor, payableCurrency, type Money } from '../src/platform/money.ts';
import { UserFacingError } from '../src/platform/user-facing-error.ts';
import { readPages } from '../src/reconciliation/history.ts';
import { record, type Seen } from './probe/record.ts';
import { moneyText, placeOf, readRecord, visible, type Asked, type Fault } from './probe/reading.ts';

/*
 * npm run probe [-- --record 25.00 NGN]: makes one payment with a test key, and prints each answer
 * of the service with what the adapter reads from it. --record also writes the answers to
 * src/custom/service.examples.json. Exit codes: 0 if the adapter reads everything, 1 if it does
 * not, 2 if the service could not be asked. If no service is configured, it starts a sandbox, and
 * pays there itself. It needs no database.
 */

const USAGE = 'Usage: npm run probe -- [--record] [25.00 NGN]';
const NO_DATABASE = 'postgres://none@127.0.0.1/none';
const POLL_MS = 5_000;
const WAIT_MS = 20 * 60_000;
const MAX_PAGES = 5;
/** The number of characters of an answer that are printed. */
const SHOWN = 1_500;
const NO_RAW = { httpStatus: 200, body: '' };
const GET = { method: 'GET' as const, totalMs: 30_000, maxBytes: 32 * 1024 * 1024 };

type Probe = { config: Config; service: Service; asked: Asked; last: Answer | null; faults: Fault[]; seen: Seen[] };

const say = (...lines: string[]) => process.stdout.write(lines.map((line) => `${line}\n`).join(''));

process.exitCode = await run(process.argv.slice(2));

async function run(typed: string[]): Promise<number> {
  const [words, isRecorded] = [typed.filter((word) => word !== '--record'), typed.includes('--record')];
  let sandbox: Sandbox | null = null;
  try {
    loadEnvFile({ quiet: true });
    const { GATEWAY_URL = '', GATEWAY_SECRET_KEY = '', DATABASE_URL = '' } = process.env;
    if (/^[\s"']*sk_live_/i.test(GATEWAY_SECRET_KEY))
      throw new UserFacingError('GATEWAY_SECRET_KEY is a live key, and the payment would be real. Use the test key.');
    if (isRecorded && (GATEWAY_URL === '' || process.env.GATEWAY_ADAPTER))
      throw new UserFacingError(
        '--record writes examples for src/custom/service.ts: set GATEWAY_URL to your service, and no GATEWAY_ADAPTER.',
      );
    const key = GATEWAY_SECRET_KEY || 'sk_test_sandbox_no_real_money';
    if (GATEWAY_URL === '') sandbox = await startSandbox({ key, webhookUrl: null, webhookSecret: null });
    const needed = { GATEWAY_SECRET_KEY: key, DATABASE_URL: DATABASE_URL || NO_DATABASE };
    const config = loadConfig({ ...process.env, ...needed, ...(sandbox && { GATEWAY_URL: sandbox.url }) });
    return await probe(config, moneyIn(words), isRecorded);
  } catch (error) {
    if (!(error instanceof UserFacingError || error instanceof Unanswered)) throw error;
    process.stderr.write(`\nNot asked: ${error.message}\n`);
    return 2;
  } finally {
    await sandbox?.close();
  }
}

function moneyIn([text = '25.00', code = 'NGN']: string[]): Money {
  const currency = payableCurrency(code);
  const amount = currency === null ? null : parseMajor(text, currency);
  if (currency === null || amount === null || amount <= 0n) throw new UserFacingError(USAGE);
  return { amount, currency };
}

async function probe(config: Config, money: Money, isRecorded: boolean): Promise<number> {
  const { GATEWAY_ADAPTER: path, GATEWAY_URL: url, CHECKOUT_HOSTS: checkoutHosts } = config;
  // The same checks as in the program: a result that the program could not store is not read here
  // either.
  const adapter = checkedAdapter(await loadAdapter(path), () => undefined);
  const key = config.GATEWAY_SECRET_KEY.reveal();
  const headers = adapter.authorize?.(key) ?? { 'x-api-key': key };
  const redact = createRedactor(key);
  const client = createClient({ origin: url.origin, headers, redact, connections: 1, publicOnly: false });
  const ask: Service['ask'] = async (endpoint, _share, _waitMs, request) => {
    const answer = await client.call(request);
    if (answer.text !== parts.last?.text) {
      say('', `${request.method} ${request.path}`, `  sent ${request.body ?? 'nothing'}`);
      say(`  HTTP ${answer.status}  ${visible(answer.text, SHOWN)}`);
    }
    parts.last = answer;
    note(parts, endpoint, request.path);
    const { status } = answer;
    if (status === 401 || status === 403) throw new KeyRefused(status);
    if (status >= 500 || status === 429)
      throw new UserFacingError(`the service answers HTTP ${status}: try again later`);
    return answer;
  };
  const service: Service = { mode: 'test', adapter, checkoutHosts, ask };
  const asked = { reference: createReferences(adapter).create(), money };
  const parts: Probe = { config, service, asked, last: null, faults: [], seen: [] };
  say(`The service is ${url.origin}, the key a test key, the adapter ${path ?? 'src/custom/service.ts'}.`);
  try {
    const checkoutUrl = await openPayment(parts);
    const isPaid = checkoutUrl !== null && (await waitForPayment(parts, checkoutUrl));
    if (!isPaid) fault(parts, 'there was no paid record, so it is unknown whether the adapter would read one', 'read');
    await readList(parts, isPaid);
    await readCash(parts);
  } finally {
    await client.close();
  }
  const isRead = parts.faults.length === 0;
  say('', isRead ? 'The adapter reads everything.' : 'What is not read, and where to fix it:');
  for (const { what, where } of parts.faults) say(`  ${placeOf(where, path)}: ${what}`);
  return (isRecorded ? await recordSeen(parts) : true) && isRead ? 0 : 1;
}

/** Keeps an answer for --record. A page of the history is kept only if it contains our payment. */
function note({ seen, asked, last }: Probe, section: Seen['section'], path: string): void {
  if (last?.json === undefined) return;
  if (section === 'history' && !last.text.toLowerCase().includes(asked.reference.toLowerCase())) return;
  const answer = last.json.value;
  seen.push({ section, status: last.status, answer, path, asked: { reference: asked.reference, mode: 'test' } });
}

/** @returns whether the adapter then reads all examples as expected */
async function recordSeen({ service, seen }: Probe): Promise<boolean> {
  const { lines, isRead } = await record(service.adapter, seen);
  say('', 'Written to src/custom/service.examples.json, with what src/custom/service.ts reads now:', ...lines);
  return isRead;
}

function fault({ faults }: Probe, what: string, where: string): void {
  const sentence = visible(what);
  say(`  NOT READ: ${sentence}`);
  if (!faults.some((one) => one.what === sentence)) faults.push({ what: sentence, where });
}

async function openPayment(parts: Probe): Promise<string | null> {
  const { service, config, asked } = parts;
  const origin = config.PUBLIC_URL?.origin ?? `http://localhost:${config.PORT}`;
  const redirectUrl = `${origin}/checkout/return/${asked.reference}`;
  const result = await initialize(service, { ...asked, email: 'probe@example.com', redirectUrl });
  if (parts.last === null || result.outcome === 'not-sent')
    throw new UserFacingError('reason' in result ? result.reason : 'no answer');
  if (result.outcome === 'opened') say(`  checkout address: ${result.checkoutUrl}`);
  else fault(parts, `initialize is read as ${result.outcome}: ${result.reason}`, 'initialize');
  const unknown = await verify(service, createReferences(service.adapter).create(), 'interactive');
  if (unknown.outcome !== 'not_found')
    fault(parts, `a reference that was never sent is read as ${unknown.outcome}, not as not found`, 'verify');
  return result.outcome === 'opened' ? result.checkoutUrl : null;
}

/** Asks verify about our payment, and prints what is read if it is new. */
async function askVerify(parts: Probe): Promise<Evidence> {
  const { service, asked, last } = parts;
  const evidence = await verify(service, asked.reference, 'interactive');
  if (parts.last === null || parts.last.text === last?.text) return evidence;
  if (evidence.outcome === 'not_found') say('  not found');
  else if (evidence.outcome === 'unreadable') fault(parts, evidence.doubt ?? 'it cannot be read', 'verify');
  else show(parts, service.adapter.verify.record(parts.last.json?.value));
  return evidence;
}

function show(parts: Probe, record: unknown): Evidence | null {
  const { evidence, lines, faults } = readRecord(parts.service.adapter, record, parts.asked, NO_RAW);
  say(...lines.map((line) => `  ${visible(line)}`));
  for (const { what, where } of faults) fault(parts, what, where);
  return evidence;
}

/**
 * A sandbox is paid by its control, any other service by the user.
 * @returns whether the payment was read as paid
 */
async function waitForPayment(parts: Probe, checkoutUrl: string): Promise<boolean> {
  const before = await askVerify(parts);
  if (before.outcome === 'paid') fault(parts, 'it is read as paid before anybody has paid', 'classOf');
  if (before.outcome === 'unreadable' || before.outcome === 'paid') return false;
  if (await paySandbox(parts)) return (await askVerify(parts)).outcome === 'paid';
  const stop = new AbortController();
  process.once('SIGINT', stop.abort.bind(stop));
  say(
    '',
    `Pay ${moneyText(parts.asked.money)} at ${checkoutUrl}`,
    'The probe waits for the payment. Press Ctrl-C to continue without it.',
  );
  const end = performance.now() + WAIT_MS;
  let seen = before;
  while (['pending', 'not_found'].includes(seen.outcome) && !stop.signal.aborted && performance.now() < end) {
    await sleep(POLL_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    seen = await askVerify(parts);
  }
  return seen.outcome === 'paid';
}

async function paySandbox({ config: { GATEWAY_URL: url }, asked }: Probe): Promise<boolean> {
  const page = LOOPBACK.has(url.hostname) ? await fetch(`${url.origin}/sandbox/`).catch(() => null) : null;
  if ((await page?.text())?.includes('Payment sandbox') !== true) return false;
  const control = `${url.origin}/sandbox/transactions/${asked.reference}/pay`;
  say('', 'The probe pays it by the control of the sandbox.');
  return (await fetch(control, { method: 'POST', body: '{"notify": false}' })).ok;
}

/** Reads the first pages of the history, until our payment is found. */
async function readList(parts: Probe, isPaid: boolean): Promise<void> {
  const { ask, adapter } = parts.service;
  const page = (path: string) => ask('history', 'background', 0, { ...GET, path });
  const since = adapter.history.filters ? new Date(Date.now() - 3_600_000) : null;
  const path = adapter.history.first({ since, until: null });
  const pages = readPages({ page }, adapter.history, { path, number: 1 });
  let [rows, end] = [0, await pages.next()];
  while (end.done !== true) {
    rows += end.value.rows.length;
    const reads = end.value.rows.map((row) => ({ row, ...readRecord(adapter, row, parts.asked, NO_RAW) }));
    const unread = reads.find(({ evidence }) => evidence === null);
    if (unread !== undefined) fault(parts, `a row of the history: ${JSON.stringify(unread.row)}`, 'read');
    const ours = reads.find(({ isOurs }) => isOurs);
    if (ours !== undefined) {
      say(`  our row: ${visible(JSON.stringify(ours.row), SHOWN)}`);
      const outcome = show(parts, ours.row)?.outcome ?? 'nothing';
      if (isPaid && outcome !== 'paid')
        fault(parts, `its row is read as ${outcome}; if the history lags, set lagMin`, 'history');
      return;
    }
    if (end.value.next === null || end.value.next.number > MAX_PAGES) break;
    end = await pages.next();
  }
  if (end.done === true && end.value !== null) fault(parts, end.value, 'history');
  fault(
    parts,
    `our payment is not in the first ${rows} rows of the history; if the history lags, set lagMin`,
    'history',
  );
}

type Cash = readonly ({ amount: string | number; currency: string } | null)[] | null;

/** Reads balances and transfers, if the adapter has them. */
async function readCash(parts: Probe): Promise<void> {
  const { ask, adapter } = parts.service;
  const { balances, transfers } = adapter;
  const list = async (name: string, path: string, read: (answer: unknown) => Cash) => {
    try {
      const { json } = await ask('history', 'background', 0, { ...GET, path });
      for (const one of read(json?.value) ?? [null]) {
        const amount = one && fromServiceAmount(one.amount, one.currency, adapter);
        if (one === null || amount === null) throw new Error('it is not an exact amount of a currency');
        say(`  ${name}: ${JSON.stringify(one.amount)} -> ${moneyText({ amount, currency: one.currency })}`);
      }
    } catch (error) {
      if (error instanceof Unanswered || error instanceof UserFacingError) throw error;
      fault(parts, `${name} are not read: ${String(error)}`, name);
    }
  };
  if (balances) await list('balances', balances.path, balances.read);
  if (transfers)
    await list('transfers', transfers.first(), (page) => transfers.rows(page)?.map(transfers.read) ?? null);
}
