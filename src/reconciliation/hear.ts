import { changeOrder, changeStranger } from '../payments/change-order.ts';
import { moneyOf, setMoney, type Change, type DossierPayment } from '../payments/change.ts';
import { isUntouched } from '../payments/conclude.ts';
import { askNow, type AskParts } from '../payments/due.ts';
import { max, min, observeList, standingOf } from '../payments/money.ts';
import type { Prisma } from '../platform/prisma/client.ts';
import type { Listed } from './compare.ts';

export type Hearing = {
  runId: bigint;
  startedAt: Date;
  /** Of the whole list: only then it may lower what is known. */
  isWhole: boolean;
  /** Up to now: else it does not show what went since, and what comes by it may have gone. */
  isToNow: boolean;
  reachesBackDays: number | null;
};

const MINUTE_MS = 60_000;
const ABSENT = { shows: 0n, gone: 0n, came: 0n, word: null, isDoubted: false, isFailed: false, isPart: false };

/** `isNew`: a stranger's, with the row that it gets. */
type Differing = { reference: string; orderId: string | null; isNew?: Prisma.PaymentCreateManyInput };

/**
 * Asks verify about a payment that differs, and then hears what the list shows of it.
 * @returns false: it could not be heard, so the next run goes on with it
 */
export async function resolve(parts: AskParts, one: Differing, listed: Listed[], heard: Hearing): Promise<boolean> {
  const { reference, orderId, isNew } = one;
  const hearIf = (holds: typeof mayBeHeard) => (change: Change) => {
    const payment = change.dossier.payments.find((one) => one.reference === reference);
    if (payment !== undefined && holds(change, payment, heard)) hear(change, payment, listed, heard);
  };
  // What the list shows as gone pays nothing, and ships nothing: verify may tell of it a day late.
  const isGone = heard.isWhole && listed.some(({ gone, came }) => gone > 0n && came > 0n);
  if (orderId !== null && isGone) await changeOrder(parts, orderId, 'reconciliation', hearIf(isUntouched));
  const isAnswered = orderId === null || (await askNow(parts, reference, 'reconciliation'));
  // A light run observes nothing but a stranger's money, up to now: what differs is verify's to say.
  if (orderId === null ? !heard.isToNow : !heard.isWhole) return orderId !== null && isAnswered;
  if (orderId !== null) await changeOrder(parts, orderId, 'reconciliation', hearIf(mayBeHeard));
  // Its reference is one of the other mode, too: whose money that is, nobody here can write down.
  else if ((await changeStranger(parts, reference, 'reconciliation', hearIf(mayBeHeard), isNew)) === null) return false;
  return isAnswered;
}

/**
 * The list is heard in a run that began `lagMin` after verify last said something else of the payment, and after verify
 * was asked in that run: a list that lags would else book every honest payment twice.
 */
function mayBeHeard({ terms }: Change, payment: DossierPayment, { startedAt }: Hearing): boolean {
  if (payment.orderId === null) return true;
  const [said] = payment.verifications;
  const isAsked = payment.answeredAt !== null && payment.answeredAt >= startedAt;
  return isAsked && (said === undefined || said.at.getTime() + terms.lagMin * MINUTE_MS <= startedAt.getTime());
}

function hear(change: Change, payment: DossierPayment, listed: Listed[], hearing: Hearing): void {
  const { runId, startedAt, isWhole, reachesBackDays } = hearing;
  // A run may read for hours, and what is near the end of the list's reach rolls off (also in compare.ts).
  const since = startedAt.getTime() - ((reachesBackDays ?? Infinity) - 0.25) * 1_440 * MINUTE_MS;
  const isSeen = isWhole && (payment.openedAt ?? payment.createdAt).getTime() >= since;
  const isInReach = isSeen && payment.orderId !== null;
  const isFailed = payment.orderId === null || payment.verifications[0]?.outcome === 'failed';
  for (const currency of new Set([...payment.money, ...listed].map((one) => one.currency))) {
    const shown = listed.find((one) => one.currency === currency) ?? ABSENT;
    const { shows, gone, came } = shown;
    const before = moneyOf(payment, currency);
    // By the sources: in the ledger, what was won back came twice. What never came has not gone: a failed debit.
    const known = max((before.verifyShows ?? 0n) + before.verifyGone, (before.listShows ?? 0n) + before.listGone);
    const ever = max(known, came);
    if (ever === 0n) continue;
    // Each source calls it failed: a debit was returned, or a payment voided.
    const now = isSeen && isFailed && shown.isFailed ? ever : gone;
    const told = before.listGone + before.listBeyond;
    // Where it shows no money at all, what went stays gone. Where it shows less by a refund, that went, named or not.
    const unnamed = min(max(0n, ever - shows - now), standingOf(before).toGo);
    const inReach = came === 0n ? max(told, now) : now + unnamed;
    // Beyond its reach, what it shows no more has rolled off, and stays gone. A light run reads only what is new.
    const listRolled = isInReach ? 0n : max(min(before.listRolled, told), isWhole ? told - now : 0n);
    const all = isInReach ? inReach : isWhole ? listRolled + now : max(told, now);
    const listGone = min(all, ever);
    // Refunded, and charged back as well: more went than ever came, and the ledger has no place for that.
    const listBeyond = shown.isPart ? all - listGone : isInReach ? 0n : max(0n, told - ever);
    const isMore = shows > before.came - before.went;
    const there = isInReach ? shows : max(ever - listGone, isMore ? shows : 0n);
    const isNews = isInReach || isMore || all > told || (isWhole && payment.orderId === null && came > 0n);
    const heard = { listBeyond, listWord: shown.word, listDoubted: shown.isDoubted, listHeardAt: startedAt };
    const after = isNews ? { ...observeList(before, there, listGone), ...heard } : before;
    setMoney(change, payment, before, { ...after, listRolled }, 'shown by the list', { run: String(runId) });
  }
}
