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
 * `isFine` is null if the check could not be made. `says` is the observation. The advice is in
 * words.json.
 */
type Found = [isFine: boolean | null, says: string, todo?: string];
type Checks = Record<string, (parts: CommandParts) => Found | Promise<Found>>;
/**
 * If one of these is not fine, the state is `wrong`. Any other is `look`: it works, but a person
 * should look at it.
 */
const NEEDED =
  'database payments-overdue messages-waiting message-given-up key PUBLIC_URL CHECKOUT_HOSTS alerts receiver'.split(
    ' ',
  );

/** Two levels up, both from `src/commands` and from `dist/commands`. */
const MIGRATIONS = new URL('../../prisma/migrations', import.meta.url);

const DAILY: Checks = {
  database: async ({ prisma }) => {
    const [row] = await prisma.$queryRaw<{ version: string; readOnly: string; owned: number }[]>`
      SELECT current_setting('server_version') AS version, current_setting('transaction_read_only') AS "readOnly",
        (SELECT count(*)::int FROM pg_tables WHERE tableowner = current_user) AS owned`;
    const owned = `Tables owned by its role: ${row?.owned ?? ''}.`;
    const says = `PostgreSQL ${row?.version ?? ''} answers. Read-only: ${row?.readOnly ?? ''}. ${owned}`;
    return [row?.readOnly === 'off', says];
  },
  migrations: async ({ prisma }) => {
    const applied = await prisma.$queryRaw<{ name: string }[]>`
      SELECT migration_name AS name FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY migration_name`;
    const folders = await readdir(MIGRATIONS);
    const names = applied.map(({ name }) => name).filter((name) => !folders.includes(name));
    if (names.length === 0) return [true, 'This version knows all migrations of the database.'];
    return [false, `This version does not know these migrations of the database: ${names.join(', ')}.`];
  },
  service: async ({ gateway: { mode, references, verify } }) => {
    const { outcome, httpStatus } = await verify(references.create(), 'interactive', 8_000);
    const says = `It accepts the key (${mode} mode). Verify of an unused reference returns ${outcome} (HTTP ${httpStatus}).`;
    return [outcome === 'not_found', says];
  },
  adapter: async ({ gateway, prisma }) => {
    const faults = (await readNotes(prisma, gateway.mode, 'adapter-fault')).filter(
      ({ version }) => version === gateway.adapterVersion,
    );
    if (faults.length > 0) {
      const says = faults.map(({ member, message, at }) => `${member} ${message}, at ${at.toISOString()}.`).join(' ');
      // Anybody can send a webhook that the adapter cannot read.
      return [faults.every(({ member }) => member.startsWith('webhook.')) ? false : null, says];
    }
    const unreadable = { mode: gateway.mode, unreadableSince: { not: null } };
    const unanswered = await prisma.payment.count({ where: unreadable });
    if (unanswered > 0) return [false, `It cannot read the answers of verify about ${unanswered} payments.`];
    const { history } = gateway.adapter;
    const path = history.first({ since: null, until: null });
    const { value: page } = await readPages(gateway, history, { path, number: 1 }).next();
    if (page === null || typeof page === 'string') return [null, `${page ?? 'It has no page'}.`];
    const unread = page.rows.filter((row) => 'unreadable' in readRow(row, gateway)).length;
    return [unread === 0, `It cannot read ${unread} of the ${page.rows.length} rows on the first page of the history.`];
  },
  clock: async ({ config }) => {
    const { date } = (await reach(config.GATEWAY_URL)).headers;
    const sec = Math.round((Date.now() - Date.parse(String(date))) / 1_000);
    return [Math.abs(sec) <= 60, `It is ${sec} s ahead of the payment service’s clock.`];
  },
  webhooks: async ({ prisma, gateway: { mode, adapter } }) => {
    const where = { mode, signature: { not: 'refused' } };
    const last = await prisma.webhook.findFirst({ where, orderBy: { lastAt: 'desc' } });
    if (last === null) return [false, 'No webhook was accepted yet.'];
    const isFine = last.signature === 'signed' || adapter.webhook.signature === null;
    return [isFine, `The last one arrived at ${last.lastAt.toISOString()} and was ${last.signature}.`];
  },
};
// The states of the alerts, except the key, which the check of the service covers.
for (const { name, fine, look } of STATES.filter((state) => state.name !== 'key-refused'))
  DAILY[name] = async (parts) => {
    const seen = await look({ ...parts, caseSentences: () => Promise.resolve([]), settledMs: 0 }, null);
    return [seen === null, seen?.says ?? fine, seen?.todo];
  };

/** Additional checks before the first live sale. */
const LIVE: Checks = {
  key: ({ config: c }) => [c.mode === 'live' && c.production, `It is a ${c.mode} key, and NODE_ENV is ${c.NODE_ENV}.`],
  PUBLIC_URL: async ({ config: { PUBLIC_URL: url } }) => {
    const status = url && (await reach(new URL('/webhooks/payments', url))).statusCode;
    return [url?.protocol === 'https:' && status === 200, `${url?.origin ?? 'None'} answers ${status ?? 'nothing'}.`];
  },
  CHECKOUT_HOSTS: ({ config: c }) => [
    c.CHECKOUT_HOSTS.length > 0,
    `Allowed hosts: ${c.CHECKOUT_HOSTS.join(', ') || 'any'}.`,
  ],
  alerts: async ({ config, gateway: { mode }, logger }) => {
    const channels = channelsOf(config, logger).filter(({ name }) => name !== 'log');
    const test = {
      id: `alert_test_${Date.now()}`,
      name: 'test',
      mode,
      isOver: false,
      says: 'This is a test.',
      todo: null,
    };
    for (const { send } of channels) await send(test);
    const names = channels.map(({ name }) => name).join(', ');
    return [names !== '', `A test alert was sent by ${names || 'no channel'}. Check that somebody received it.`];
  },
  receiver: ({ hasReceiver }) => [
    hasReceiver,
    `This process has ${hasReceiver ? 'a' : 'no'} receiver for paid orders.`,
  ],
  TRUSTED_PROXIES: async ({ prisma, gateway: { mode } }) => {
    const [seen] = await readNotes(prisma, mode, 'untrusted-proxy');
    if (seen === undefined) return [true, 'All requests came directly or through a proxy in TRUSTED_PROXIES.'];
    const { peer, header, at } = seen;
    return [
      false,
      `${peer} sent ${header} at ${at.toISOString()} and is not in TRUSTED_PROXIES, so its clients share one limit.`,
    ];
  },
  // If both directions use the same wrong unit, all figures agree, and only a person can notice it.
  'first payment': async ({ prisma, gateway: { mode, adapter, verify } }) => {
    const first = mode === 'live' ? await prisma.proof.findFirst({ where: { mode }, orderBy: { at: 'asc' } }) : null;
    if (first === null) return [false, 'No live payment was paid yet. Buy your cheapest product.'];
    const { currency, reference, price: amount } = first;
    const { body } = await verify(reference, 'interactive', 8_000);
    const figure = adapter.read(adapter.verify.record(JSON.parse(body)))?.amount ?? 'nothing';
    const unit = `${adapter.amountUnit} units with ${adapter.decimals?.[currency] ?? minorDigits(currency) ?? 0} decimals`;
    return [false, `Its price was ${amountText({ amount, currency })}; the service says ${figure}, in ${unit}.`];
  },
};

/** Whether the address answers. The key is not sent, and redirects are not followed. */
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
