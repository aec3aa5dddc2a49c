import type { Clock } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import { POSSIBLE_CHANGES } from '../assumptions.ts';
import type { Mode } from '../keys.ts';
import { formatAmount, type Money } from '../money.ts';
import type { EventLog } from './event-log.ts';
import type { Hand, LedgerEvent } from './events.ts';
import type { LedgerState } from './state.ts';
import type { Change, Notice, Transaction } from './transaction.ts';

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
  initialize(mode: Mode, order: Order): Transaction | 'duplicate';
  /** Takes any amount, by default what was asked for, as often as it is called; only a second currency is refused. */
  pay(decision: Decision, money?: Money): DecisionOutcome;
  /** Takes what was asked for from a transaction nobody decided on yet, and refuses every other. */
  payIfPending(decision: Decision): DecisionOutcome;
  fail(decision: Decision): DecisionOutcome;
  reverse(decision: Decision): DecisionOutcome;
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
      return now === 'pending'
        ? decide(deps, decision, 'paid')
        : { outcome: 'refused', reason: `it is ${now}` };
    },
    fail: (decision) => decide(deps, decision, 'failed'),
    reverse: (decision) => decide(deps, decision, 'reversed'),
    endWebhook(webhookId, delivered) {
      commit(deps, { type: 'webhook-ended', webhookId, delivered });
    },
    reset() {
      commit(deps, { type: 'reset' });
    },
    saved: () => log.saved(),
  };
}

function initialize(deps: LedgerDeps, mode: Mode, order: Order): Transaction | 'duplicate' {
  const { reference, email, redirectUrl, asked } = order;
  if (deps.state.find(mode, reference) !== undefined) return 'duplicate';
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
