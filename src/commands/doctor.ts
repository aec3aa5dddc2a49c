import { readdir } from 'node:fs/promises';
import { EnvHttpProxyAgent, request } from 'undici';
import { channelsOf } from '../alerts/channels.ts';
import { readNotes } from '../alerts/notes.ts';
import { STATES } from '../alerts/states.ts';
import { USER_AGENT } from '../gateway/client.ts';
import { codeOf, Unanswered } from '../gateway/errors.ts';
import { minorDigits } from '../platform/money.ts';
import { readPages } from '../reconciliation/history.ts';
import { readRow } from '../reconciliation/row.ts';
import { amountText } from '../reporting/words.ts';
import { action, FLAG, type CommandParts } from './registry.ts';
import words from './words.json' with { type: 'json' };

/**
 * Whether it is fine (null: it could not be asked), and what is seen. What to do stands in
 * words.json.
 */
type Found = [isFine: boolean | null, says: string, todo?: string];
type Checks = Record<string, (parts: CommandParts) => Found | Promise<Found>>;
/** What is wrong unless it is fine. All else works, and a person should look at it. */
const NEEDED =
  'database payments-overdue messages-waiting message-given-up key PUBLIC_URL CHECKOUT_HOSTS alerts receiver'.split(
    ' ',
  );

/** Two levels up from `src/commands` as from `dist/commands`. */
const MIGRATIONS = new URL('../../prisma/migrations', import.meta.url);

const DAILY: Checks = {
  database: async ({ prisma }) => {
    const [row] = await prisma.$queryRaw<{ version: string; readOnly: string; owned: number }[]>`
      SELECT current_setting('server_version') AS version, current_setting('transaction_read_only') AS "readOnly",
        (SELECT count(*)::int FROM pg_tables WHERE tableowner = current_user) AS owned`;
    const owned = `Tables that its role owns: ${row?.owned ?? ''}.`;
    const says = `PostgreSQL ${row?.version ?? ''} answers. Read-only: ${row?.readOnly ?? ''}. ${owned}`;
    return [row?.readOnly === 'off', says];
  },
  migrations: async ({ prisma }) => {
    const applied = await prisma.$queryRaw<{ name: string }[]>`
      SELECT migration_name AS name FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY migration_name`;
    const folders = await readdir(MIGRATIONS);
    const names = applied.map(({ name }) => name).filter((name) => !folders.includes(name));
    if (names.length === 0) return [true, 'The database has none that this version does not know.'];
    return [false, `The database has some that this version does not know: ${names.join(', ')}.`];
  },
  service: async ({ gateway: { mode, references, verify } }) => {
    const { outcome, httpStatus } = await verify(references.create(), 'interactive', 8_000);
    const says = `It takes the key, of ${mode} mode. A payment that nobody has is ${outcome} (HTTP ${httpStatus}).`;
    return [outcome === 'not_found', says];
  },
  adapter: async ({ gateway, prisma }) => {
    const faults = (await readNotes(prisma, gateway.mode, 'adapter-fault')).filter(
      ({ version }) => version === gateway.adapterVersion,
    );
    if (faults.length > 0) {
      const says = faults.map(({ member, message, at }) => `${member} ${message}, at ${at.toISOString()}.`).join(' ');
      // Anybody may send a webhook that the adapter cannot read.
      return [faults.every(({ member }) => member.startsWith('webhook.')) ? false : null, says];
    }
    const unreadable = { mode: gateway.mode, unreadableSince: { not: null } };
    const unanswered = await prisma.payment.count({ where: unreadable });
    if (unanswered > 0) return [false, `It cannot read what verify says of ${unanswered} payments.`];
    const { history } = gateway.adapter;
    const path = history.first({ since: null, until: null });
    const { value: page } = await readPages(gateway, history, { path, number: 1 }).next();
    if (page === null || typeof page === 'string') return [null, `${page ?? 'It has no page'}.`];
    const unread = page.rows.filter((row) => 'unreadable' in readRow(row, gateway)).length;
    return [unread === 0, `Of ${page.rows.length} rows of the first page of the history it cannot read ${unread}.`];
  },
  clock: async ({ config }) => {
    const { date } = (await reach(config.GATEWAY_URL)).headers;
    const sec = Math.round((Date.now() - Date.parse(String(date))) / 1_000);
    return [Math.abs(sec) <= 60, `It is ${sec} s ahead of the payment service’s.`];
  },
  webhooks: async ({ prisma, gateway: { mode, adapter } }) => {
    const where = { mode, signature: { not: 'refused' } };
    const last = await prisma.webhook.findFirst({ where, orderBy: { lastAt: 'desc' } });
    if (last === null) return [false, 'None was taken yet.'];
    const isFine = last.signature === 'signed' || adapter.webhook.signature === null;
    return [isFine, `The last one came ${last.lastAt.toISOString()}, ${last.signature}.`];
  },
};
// What alerts tell, but for the key: the service was asked.
for (const { name, fine, look } of STATES.filter((state) => state.name !== 'key-refused'))
  DAILY[name] = async (parts) => {
    const seen = await look({ ...parts, caseSentences: () => Promise.resolve([]), settledMs: 0 }, null);
    return [seen === null, seen?.says ?? fine, seen?.todo];
  };

/** Beside all of that, before the first live sale. */
const LIVE: Checks = {
  key: ({ config: c }) => [c.mode === 'live' && c.production, `It is of ${c.mode} mode, NODE_ENV=${c.NODE_ENV}.`],
  PUBLIC_URL: async ({ config: { PUBLIC_URL: url } }) => {
    const status = url && (await reach(new URL('/webhooks/payments', url))).statusCode;
    return [url?.protocol === 'https:' && status === 200, `${url?.origin ?? 'None'} answers ${status ?? 'nothing'}.`];
  },
  CHECKOUT_HOSTS: ({ config: c }) => [c.CHECKOUT_HOSTS.length > 0, `They are ${c.CHECKOUT_HOSTS.join(', ') || 'any'}.`],
  alerts: async ({ config, gateway: { mode }, logger }) => {
    const channels = channelsOf(config, logger).filter(({ name }) => name !== 'log');
    const test = { id: `alert_test_${Date.now()}`, name: 'test', mode, isOver: false, says: 'A test.', todo: null };
    for (const { send } of channels) await send(test);
    const names = channels.map(({ name }) => name).join(', ');
    return [names !== '', `A test went out by ${names || 'nothing'}: did somebody get it?`];
  },
  receiver: ({ hasReceiver }) => [hasReceiver, `${hasReceiver ? 'One' : 'None'} gets paid orders from this process.`],
  TRUSTED_PROXIES: async ({ prisma, gateway: { mode } }) => {
    const [seen] = await readNotes(prisma, mode, 'untrusted-proxy');
    if (seen === undefined) return [true, 'No request came through a proxy that it does not name.'];
    const { peer, header, at } = seen;
    return [false, `${peer} sent ${header} at ${at.toISOString()} and is not named: its clients share one limit.`];
  },
  // Where both ways have the same wrong unit, all agrees, and only a person can see it.
  'first payment': async ({ prisma, gateway: { mode, adapter, verify } }) => {
    const first = mode === 'live' ? await prisma.proof.findFirst({ where: { mode }, orderBy: { at: 'asc' } }) : null;
    if (first === null) return [false, 'No live one is paid yet: buy your cheapest thing.'];
    const { currency, reference, price: amount } = first;
    const { body } = await verify(reference, 'interactive', 8_000);
    const figure = adapter.read(adapter.verify.record(JSON.parse(body)))?.amount ?? 'nothing';
    const unit = `${adapter.amountUnit} units with ${adapter.decimals?.[currency] ?? minorDigits(currency) ?? 0} decimals`;
    return [false, `Its price was ${amountText({ amount, currency })}; the service says ${figure}, in ${unit}.`];
  },
};

/** Whether somebody answers. No key travels, and no redirect is followed. */
function reach(url: URL) {
  const how = { dispatcher: new EnvHttpProxyAgent(), headers: { 'user-agent': USER_AGENT } };
  return request(url, { ...how, method: 'HEAD', signal: AbortSignal.timeout(5_000) });
}

const unasked = (error: unknown): Found => [null, error instanceof Unanswered ? error.message : codeOf(error)];
const TODO: Record<string, string> = words.doctor;

export const DOCTOR = action('operator', 'doctor', { live: FLAG }, async (parts, { live }) => {
  const checks = Object.entries({ ...DAILY, ...(live && LIVE) }).map(async ([about, check]) => {
    const [isFine, says, todo = TODO[about]] = await Promise.resolve(parts).then(check).catch(unasked);
    const fault = isFine === null || NEEDED.includes(about) ? 'wrong' : 'look';
    const state = isFine ? 'ok' : fault;
    return { about, state, says, todo: isFine ? '' : todo };
  });
  const data = await Promise.all(checks);
  const lines = data.map(({ about, state, says, todo }) => {
    return `${state.padEnd(5)}  ${about}: ${says}${todo ? `\n       > ${todo}` : ''}`;
  });
  return { data, sentence: lines.join('\n'), exitCode: data.some(({ state }) => state === 'wrong') ? 1 : 0 };
});
