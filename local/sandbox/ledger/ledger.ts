import type { Clock } from '../../../src/platform/clock.ts';
import { newId } from '../../../src/platform/ids.ts';
import { POSSIBLE_CHANGES } from '../assumptions.ts';
import type { Mode } from '../keys.ts';
import { formatAmount, type Money } from '../money.ts';
import type { EventLog } from './event-log.ts';
import type { Hand, LedgerEvent, RefundShape } from './events.ts';
import { refundEvent } from './refund.ts';
import type { LedgerState } from './state.ts';
import type { Transfer } from './balances.ts';
import type { Change, Notice, State, Transaction } from './transaction.ts';

/** What initialize asks for. */
export type Order = { email: string; asked: Money; reference: string; redirectUrl: string };

/** One transaction, a hand that decides on it, and whether the integrator is told. */
export type Decision = { mode: Mode; reference: string; by: Hand; notify: boolean };

export type DecisionOutcome =
  | { outcome: 'done'; transaction: Transaction }
  | { outcome: 'unknown-reference' }
  | { outcome: 'refused'; reason: string };

/**
 * The ground truth. Each deed is checked and applied in one go, without a pause in between, so no two
 * calls can both pass the check; its answer may leave only after {@link Ledger.saved}.
 */
export type Ledger = Omit<LedgerState, 'apply' | 'owedNotices'> & {
  /** @throws {Error} when the mode knows the reference: that is to be asked first, in the same go */
  initialize(mode: Mode, order: Order): Transaction;
  /** Takes any amount, by default what was asked for, as often as it is called; only a second currency is refused. */
  pay(decision: Decision, money?: Money): DecisionOutcome;
  /** Takes what was asked for from a transaction that is still open, and refuses every other. */
  payIfPending(decision: Decision): DecisionOutcome;
  /** Anything but a payment: the service reviews, the bank declines, the shopper leaves, the money goes back. */
  move(decision: Decision, to: Exclude<Change, 'paid'>): DecisionOutcome;
  /** Gives back a part of what was taken, or all of it in parts. The transaction stays paid. */
  refund(decision: Omit<Decision, 'notify'>, money: Money, shown: RefundShape): DecisionOutcome;
  /** Everything collected so far may be paid out. */
  makeAvailable(mode: Mode): void;
  /** Pays money out to the shop's bank. Null: there is not so much available. */
  transfer(mode: Mode, money: Money, reference?: string): Transfer | null;
  endWebhook(webhookId: string, delivered: boolean): void;
  /** Forgets every transaction and every webhook owed. */
  reset(): void;
  /** Resolves once all that was decided so far survives a restart. */
  saved(): Promise<void>;
};

export type LedgerDeps = {
  clock: Clock;
  log: EventLog;
  state: LedgerState;
  /** `url` null: nobody is told. `send` takes only changes that are already saved. */
  webhooks: { url(): string | null; send(notice: Notice): void };
};

export function createLedger(deps: LedgerDeps): Ledger {
  const { state, log } = deps;
  return {
    ...state,
    initialize: (mode, order) => initialize(deps, mode, order),
    pay: (decision, money) => decide(deps, decision, 'paid', money),
    payIfPending(decision) {
      const now = state.find(decision.mode, decision.reference)?.state ?? 'pending';
      return isOpen(now) ? decide(deps, decision, 'paid') : { outcome: 'refused', reason: `it is ${now}` };
    },
    move: (decision, to) => decide(deps, decision, to),
    refund(decision, money, shown) {
      const before = state.find(decision.mode, decision.reference);
      if (before === undefined) return { outcome: 'unknown-reference' };
      const event = refundEvent(before, {
        money,
        by: decision.by,
        shown,
        at: deps.clock.now().toISOString(),
      });
      if (typeof event === 'string') return { outcome: 'refused', reason: event };
      commit(deps, event);
      return { outcome: 'done', transaction: found(deps, decision.mode, decision.reference) };
    },
    makeAvailable(mode) {
      commit(deps, { type: 'made-available', at: deps.clock.now().toISOString(), mode });
    },
    transfer: (mode, money, reference) => transfer(deps, mode, money, reference),
    endWebhook(webhookId, delivered) {
      commit(deps, { type: 'webhook-ended', webhookId, delivered });
    },
    reset() {
      commit(deps, { type: 'reset' });
    },
    saved: () => log.saved(),
  };
}

/** Whether the checkout page still takes the shopper's money. */
export function isOpen(state: State): boolean {
  return state === 'pending' || state === 'abandoned';
}

function transfer(deps: LedgerDeps, mode: Mode, money: Money, reference = newId()): Transfer | null {
  const held = deps.state.balances(mode).find(({ currency }) => currency === money.currency);
  if (money.minor <= 0n || held === undefined || held.available < money.minor) return null;
  commit(deps, {
    type: 'transferred',
    at: deps.clock.now().toISOString(),
    mode,
    id: newId(),
    reference,
    amount: formatAmount(money),
    currency: money.currency,
  });
  return deps.state.transfers(mode)[0] ?? null;
}

function initialize(deps: LedgerDeps, mode: Mode, order: Order): Transaction {
  const { reference, email, redirectUrl, asked } = order;
  if (deps.state.find(mode, reference) !== undefined) throw new Error(`Bug: ${reference} exists`);
  commit(deps, {
    type: 'initialized',
    at: deps.clock.now().toISOString(),
    mode,
    reference,
    id: newId(),
    token: newId(),
    email,
    amount: formatAmount(asked),
    currency: asked.currency,
    redirectUrl,
  });
  return found(deps, mode, reference);
}

function decide(deps: LedgerDeps, decision: Decision, change: Change, money?: Money): DecisionOutcome {
  const { mode, reference, by } = decision;
  const before = deps.state.find(mode, reference);
  if (before === undefined) return { outcome: 'unknown-reference' };
  const taken = money ?? before.asked;
  const reason = objection(before, change, taken);
  if (reason !== null) return { outcome: 'refused', reason };

  const webhookId = decision.notify && deps.webhooks.url() !== null ? newId() : null;
  const head = { at: deps.clock.now().toISOString(), mode, reference, by, webhookId };
  commit(
    deps,
    change === 'paid'
      ? { type: change, ...head, amount: formatAmount(taken), currency: taken.currency }
      : { type: change, ...head },
  );
  const transaction = found(deps, mode, reference);
  if (webhookId !== null) tellOnceSaved(deps, { webhookId, change, transaction });
  return { outcome: 'done', transaction };
}

function objection(before: Transaction, change: Change, taken: Money): string | null {
  if (!POSSIBLE_CHANGES[before.state].includes(change)) return `it is ${before.state}`;
  if (change === 'reversed' && before.refunds.length > 0) return 'a part went back already: refund the rest';
  const [first] = before.payments;
  if (change !== 'paid' || first === undefined || first.money.currency === taken.currency) return null;
  return `it was paid in ${first.money.currency} before`;
}

/** The integrator may learn only of what a crash can no longer undo. */
function tellOnceSaved({ log, webhooks }: LedgerDeps, notice: Notice): void {
  log.saved().then(
    () => {
      webhooks.send(notice);
    },
    () => undefined, // the log has said so; the caller's own saved() rejects too
  );
}

function commit({ state, log }: LedgerDeps, event: LedgerEvent): void {
  state.apply(event);
  log.append(event);
}

function found({ state }: LedgerDeps, mode: Mode, reference: string): Transaction {
  const transaction = state.find(mode, reference);
  if (transaction === undefined) throw new Error('a transaction just written is missing');
  return transaction;
}
