import { isLoopback } from '../../platform/config-fields.ts';
import { displayMoney, minorDigits } from '../../platform/money.ts';
import { openFindingCounts, openSuspenseSums } from '../../reporting/shop-state.sql.ts';
import { counted, look, ok, wrong, type Answer, type Subject } from './answers.ts';
import { firstPaid, isNewestWebhookSigned, lastBegin, triedHosts, type Tried } from './doctor.sql.ts';
import { areAllRefused, TO_BE_TAKEN } from './work.ts';

/** Whether the sandbox opened it: such a checkout says nothing of the service. */
const isStandIn = ({ services }: Pick<Subject, 'services'>, { host }: Tried): boolean =>
  services.sandboxUrl !== null ||
  (!isLoopback(services.gatewayUrl) && isLoopback(new URL(`https://${host}`)));

/** What checkouts have shown: where they lead, and in which currencies the unit of amounts is proven. */
export async function checkouts({ database, mode, services, config }: Subject): Promise<Answer[]> {
  const [tested, live] = await Promise.all([triedHosts(database, 'test'), triedHosts(database, 'live')]);
  const tried = [...tested.filter((one) => !isStandIn({ services }, one)), ...live];
  if (tried.length === 0)
    return [wrong('No checkout of the service was opened yet.', 'buy something with a test key')];
  const isOpen = mode === 'live' && live.length > 0;
  return [isOpen ? opened(live) : hosts(tried, config.CHECKOUT_HOSTS), unit(tried)];
}

const HOW_TO_BEGIN = 'npm run reconcile -- --begin --dry-run';

/** The service does not know what the sandbox took, and reconciliation has not begun since. */
export async function sandboxOrders({ database, mode, services }: Subject): Promise<Answer[]> {
  if (mode === 'live' || services.sandboxUrl !== null) return [];
  const [tried, begin] = await Promise.all([triedHosts(database, mode), lastBegin(database, mode)]);
  const isBefore = ({ openedAt }: Tried): boolean => begin !== null && openedAt < begin.at;
  if (!tried.some((one) => isStandIn({ services }, one) && !isBefore(one))) return [];
  const says = 'This database holds orders of the sandbox, which the service does not know.';
  return [look(says, `set DATABASE_URL to an empty database, or begin on this one: ${HOW_TO_BEGIN}`)];
}

/**
 * Whether reconciliation has begun, where it must: the service lists what others than this program have made.
 */
export async function beginning({ database, mode }: Subject): Promise<Answer> {
  const begin = await lastBegin(database, mode);
  if (begin !== null)
    return ok(`Reconciliation of the ${mode} mode began ${begin.at.toISOString()}, said ${begin.by}.`);
  const open = await openFindingCounts(database, mode);
  const unknown = open
    .filter((one) => one.class === 'unknown_reference')
    .reduce((sum, { count }) => sum + count, 0);
  if (unknown === 0) return ok('No transaction of the service is unknown here: no begin is needed.');
  const says = `${counted(unknown, 'transaction')} of the service ${unknown === 1 ? 'is' : 'are'} unknown here.`;
  return look(says, `after a restore npm run after-restore; if they were there before: ${HOW_TO_BEGIN}`);
}

function opened(live: readonly Tried[]): Answer {
  return ok(`Live checkouts open at ${live.map(({ host }) => host).join(', ')}.`);
}

function hosts(tried: readonly Tried[], listed: readonly string[]): Answer {
  const seen = tried.map(({ host }) => host);
  const unlisted = seen.filter((host) => !listed.includes(host));
  if (unlisted.length === 0) return ok(`CHECKOUT_HOSTS has every host seen so far: ${seen.join(', ')}.`);
  const all = [...new Set([...listed, ...seen])].join(',');
  const says = `Checkouts led to ${unlisted.join(', ')}, not listed in CHECKOUT_HOSTS.`;
  return look(says, `set CHECKOUT_HOSTS=${all} if live checkouts lead there, too`);
}

/** An exact amount proves the unit, except where major and minor units are the same. */
function unit(tried: readonly Tried[]): Answer {
  const paid = [...new Set(tried.flatMap((one) => one.paid))].sort();
  const unproven = 'No payment was confirmed yet, so the unit of amounts is not proven.';
  if (paid.length === 0) return wrong(unproven, 'pay with a test key');
  const says = `Amounts were exact in ${paid.join(', ')}`;
  if (paid.some((currency) => minorDigits(currency) !== 0)) return ok(`${says}.`);
  return look(`${says}, which cannot show the unit: there are no decimals.`, 'pay in another currency');
}

/** Whether webhooks come, and as they should. Before the first live payment those of test mode count. */
export async function signatures({ database, mode, gateway }: Subject): Promise<Answer> {
  const isBeforeLive = mode === 'live' && (await firstPaid(database, 'live')) === null;
  const signed = await isNewestWebhookSigned(database, isBeforeLive ? 'test' : mode);
  if (signed === null)
    return (await areAllRefused({ database, mode }))
      ? look('Webhooks came, and all were refused.', TO_BE_TAKEN)
      : look('No webhook has come yet.', 'register PUBLIC_URL/webhooks/payments at the service, and pay');
  if (signed) return ok('Webhooks came, rightly signed.');
  return gateway.dialect.webhook.signature === null
    ? ok('Webhooks came; by the dialect the service signs none.')
    : look('Webhooks came, and their signature was not checked.', 'set WEBHOOK_SECRETS if the service signs');
}

/** Rows of both modes are in one database: they must not be mistaken for each other. */
export async function otherMode({ database, mode }: Subject): Promise<Answer | Answer[]> {
  if (mode === 'test') return [];
  const waiting = [openFindingCounts(database, 'test'), openSuspenseSums(database, 'test')];
  const open = (await Promise.all(waiting)).flat().reduce((sum, { count }) => sum + count, 0);
  const cases = `${counted(open, 'case')} of the test mode ${open === 1 ? 'is' : 'are'} open`;
  return ok(`${cases}. Rows of test and live mode are in no list and no comparison together.`);
}

/** The first payment with real money, for a person to compare. */
export async function firstLive({ database, mode }: Subject): Promise<Answer> {
  const first = await firstPaid(database, 'live');
  if (first === null)
    return look(
      'No live payment was confirmed yet.',
      mode === 'live' ? 'buy your cheapest thing, then npm run go-live' : 'set a live GATEWAY_SECRET_KEY',
    );
  const { orderId, releasedAt, ...money } = first;
  const when = releasedAt.toISOString();
  const says = `The first live payment was ${displayMoney(money)}, confirmed ${when}`;
  return ok(`${says}: npm run explain -- ${orderId}.`);
}
