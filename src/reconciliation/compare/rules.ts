import type { ReconciliationClass } from '../../cases/classes.ts';

// Some services answer for a reference that they do not know with no record, or with another one's.
const SHOWS_NO_RECORD = `answered IN ('not_found', 'unreadable', 'reference_mismatch')`;

/** The list shows nothing else that is wrong with a payment of which money went back. */
const SHOWS_ONE_PAYMENT = `coalesce(charges, 1) = 1
    AND (there IS NULL OR there IN ('reversed', 'paid_and_reversed') OR there = 'paid' AND is_exact)`;

/** The money came before what was read of the list begins: what that shows is another attempt. */
const IS_LATER_ATTEMPT = `is_released AND is_before_window AND there IN ('pending', 'failed', 'expired')
    AND answered IS NULL`;

/** The result of a rule that keeps the class of the open finding: the fact of this name. */
const KEEP_CLASS = 'open_finding';

/**
 * The rules of reconciliation, each written once and tried from top to bottom; the first that holds names the
 * class. Only rows that differ get here: a payment whose money matches plainly is counted as `matched` before
 * (`IS_PLAINLY_MATCHED` in matching.sql.ts), and a rule about such rows needs them in `toLookAt` there, too.
 * A finding of any class about a confirmed payment stays open until verify confirms the money
 * (`open_finding`). Amount and currency are checks after the match and never part of it. There is no
 * tolerance. The service's timestamps are not used: services write them in every possible format.
 *
 * The facts in the rules, by their source (`facts.sql.ts` computes them):
 *
 * The list
 * - `there`: the status of the transaction (paid, pending, failed, expired, reversed, unknown, unreadable; of
 *   several rows also paid_and_reversed, conflicting); null: it is not listed.
 * - `charges`: how many paid transactions share the reference; null: none.
 * - `paid_amount`, `paid_currency`: the money. `is_exact`: it is what was asked for, or what a person
 *   accepted (`is_accepted`). `is_power_of_ten_apart`: it is the amount asked for, times or divided by 10,
 *   100 and so on.
 * - `is_cut`: it was not read to its end. `is_within_lag`, `is_older_than_list`: it cannot show the payment
 *   yet, or any more (`coverage.sql.ts`).
 *
 * Our payment and its order
 * - `is_ours`: it has the reference of a payment of this mode. `is_of_other_mode`: of the other mode.
 *   `is_of_probe`: as `npm run probe` makes them. `is_test`: the mode is test.
 * - `here`: the status of the payment. `amount`, `currency`: the money asked for.
 * - `is_watched`: it waits for an answer, or is held. `is_beyond_horizon`: it is older than eight days, after
 *   which only answers that could not be read are asked for again.
 * - `is_released`: it released its order, on the evidence of a verify answer. `is_released_since_start`:
 *   while this run read the list. `is_late`: after it was closed, or beyond the horizon.
 * - `is_order_paid`: another payment has paid its order. `is_cancelled`, `is_past_deadline`: its money is
 *   held, and the order was cancelled, or has expired permanently.
 * - `refunded`: minor units that the shop wrote down as given back for the order.
 * - `is_before_window`: it was written before the run's window.
 *
 * Verify and webhooks
 * - `answered`: the latest verify answer, of a confirmed payment since it was confirmed; null: none.
 *   `is_money_answered`: it shows money, or money is held in suspense.
 *   `is_less_answered`: of a confirmed payment, it shows less than was confirmed.
 * - `was_verified_now`: this run asked (`is_asking`: it may). `was_released_now`: the answer paid the order.
 * - `is_confirmed_by_a_run_lately`: within a day a run asked, and verify confirmed. Other checks do not
 *   count.
 * - `told`: what signed webhooks say of the money (paid, reversed), where that is not what is confirmed.
 * - `gone`: what the list or verify show to have gone back of a confirmed payment; null: nothing. Where no
 *   source says how much, it is all.
 *
 * Findings and what persons decided
 * - `open_finding`: the class of an open finding about a confirmed payment (of several, reversed).
 *   `is_confirmed`: verify has shown exactly the money since that was seen. Only this ends the finding;
 *   another unexpected answer, or a run that did not ask, does not.
 * - `is_decided`: an operator decided about its money: it never confirms by itself since.
 * - `is_second_refunded`: the list holds what was confirmed, and a person refunded what else had come: a
 *   second charge, or a surplus.
 * - `is_rest_decided`: the list holds more than was confirmed, and persons decided about as much, of these
 *   charges.
 * - `is_before`: when reconciliation began it was a transaction that is not ours, or a payment that the list
 *   lacked, and no more money and nothing else has been heard of it since (`begin.sql.ts`).
 */
const RULES: readonly (readonly [when: string, then: ReconciliationClass | typeof KEEP_CLASS])[] = [
  // From before reconciliation began. In live mode nothing of ours that is paid, or may be, is excused: in
  // test mode it was paid at the sandbox, if verify of the service that is asked now does not know it.
  [`is_before AND NOT is_ours`, 'before_begin'],
  [`is_before AND told IS NULL AND NOT is_released AND here <> 'held'`, 'before_begin'],
  [`is_before AND told IS NULL AND is_test AND (${SHOWS_NO_RECORD} OR NOT is_asking)`, 'before_begin'],

  // Transactions that match no payment of this mode. Test and live share the table of payments, so a
  // payment of the other mode is recognised.
  [`NOT is_ours AND is_of_other_mode`, 'mode_mismatch'],
  [`NOT is_ours AND is_test AND is_of_probe`, 'probe'],
  [`NOT is_ours AND there <> 'unreadable'`, 'unknown_reference'],

  // The shop wrote down what went back, or more of it: the service may show the rest later, or never.
  [`is_released AND gone <= refunded AND ${SHOWS_ONE_PAYMENT}`, 'refunded'],
  [`is_released AND is_second_refunded AND answered IS DISTINCT FROM 'reversed'`, 'refunded'],
  // A reversal that refunds do not explain: it is raised whatever else is wrong with the payment.
  [`is_released AND answered = 'reversed'`, 'reversed'],
  [`is_released AND there IN ('reversed', 'paid_and_reversed')`, 'reversed'],
  [`is_released AND open_finding = 'reversed' AND NOT is_confirmed`, 'reversed'],

  // The status in the history cannot be understood: it counts as neither paid nor failed, and is raised.
  [`there = 'unreadable'`, 'unreadable'],
  [`there = 'unknown'`, 'unknown_status'],
  [`there = 'conflicting'`, 'conflicting_records'],
  [`there = 'paid_and_reversed' AND paid_amount <> 0`, 'conflicting_records'],

  // A person decided about what else came. That covers no contradiction about what paid the order.
  [`there = 'paid' AND is_rest_decided AND is_less_answered`, 'paid_contradicted'],

  // Paid there, with other money. If verify has confirmed the exact money since, the two sources
  // contradict each other.
  [`there = 'paid' AND charges > 1`, 'duplicate_payment'],
  [`there = 'paid' AND NOT is_exact AND is_released AND answered = 'paid'`, 'sources_disagree'],
  [`there = 'paid' AND paid_currency <> currency`, 'currency_mismatch'],
  [`there = 'paid' AND is_power_of_ten_apart AND NOT is_exact`, 'unit_error'],
  [`there = 'paid' AND paid_amount < amount AND NOT is_exact`, 'underpaid'],
  [`there = 'paid' AND paid_amount > amount AND NOT is_exact AND is_released`, 'charged_again'],
  [`there = 'paid' AND paid_amount > amount AND NOT is_exact`, 'overpaid'],

  // Paid there, exactly, and confirmed here, but contradicted since by verify or a webhook. Verify is
  // asked again. Even if it confirms the money, a webhook that reported a reversal still contradicts it.
  [
    `is_released AND answered <> 'paid' AND open_finding IN ('paid_contradicted', 'paid_unconfirmed')`,
    KEEP_CLASS,
  ],
  [`there = 'paid' AND is_released AND answered <> 'paid'`, 'paid_contradicted'],
  [`there = 'paid' AND is_released AND told = 'reversed' AND refunded < came`, 'sources_disagree'],
  [`is_released AND open_finding IS NOT NULL AND NOT is_confirmed`, KEEP_CLASS],

  // Paid there, exactly, and confirmed here. Late: the payment had been closed before, or
  // its horizon had passed.
  [`there = 'paid' AND is_released AND is_accepted`, 'accepted'],
  [`there = 'paid' AND is_released AND was_released_now`, 'repaired'],
  [`there = 'paid' AND is_released AND is_late`, 'matched_late'],
  [`there = 'paid' AND is_released`, 'matched'],

  // Paid there, exactly, and not confirmed here. Such payments are verified; these rules see those that
  // verify did not confirm.
  [`there = 'paid' AND is_order_paid`, 'duplicate_payment'],
  [`(there = 'paid' OR answered = 'paid') AND is_decided`, 'paid_after_decision'],
  [`(there = 'paid' OR answered = 'paid') AND is_cancelled`, 'paid_after_cancel'],
  [`(there = 'paid' OR answered = 'paid') AND is_past_deadline`, 'paid_after_deadline'],
  [`there = 'paid' AND here IN ('failed', 'expired') AND NOT was_verified_now`, 'late_payment'],
  [`there = 'paid'`, 'sources_disagree'],

  // Confirmed here and not paid there. `not_found` does not mean failed: it proves no more than a whole
  // list that lacks the payment. Lists lag, so they may lack a payment that was confirmed while the list
  // was read or shortly before.
  [`is_released AND there IS NULL AND answered = 'not_found' AND NOT is_cut`, 'absent_from_history'],
  [`is_released AND answered <> 'paid'`, 'paid_unconfirmed'],
  [`is_released AND is_released_since_start`, 'open'],
  [`is_released AND is_within_lag AND coalesce(there, 'pending') = 'pending'`, 'open'],
  [IS_LATER_ATTEMPT, 'older_than_list'],
  [`is_released AND there IS NULL AND is_cut`, 'history_truncated'],
  [`is_released AND there IS NULL AND is_older_than_list`, 'older_than_list'],
  [`is_released AND there IS NULL`, 'absent_from_history'],
  [`is_released AND answered = 'paid'`, 'sources_disagree'],
  [`is_released`, 'paid_unconfirmed'],

  // The history shows no money, but verify shows, or once showed, money that is held here.
  [`here = 'held' AND is_money_answered AND there IS NULL AND is_cut`, 'history_truncated'],
  [`here = 'held' AND is_money_answered`, 'sources_disagree'],

  // A signed webhook says that money came, and no other source knows of it. Where the history also says
  // that it went back, the two agree.
  [`told = 'paid' AND NOT is_released AND coalesce(there, '') NOT LIKE '%reversed'`, 'sources_disagree'],

  // No money on either side. The service must list payments that are still checked once they are
  // older than the horizon.
  [`there IS NULL AND is_watched AND is_beyond_horizon AND is_cut`, 'history_truncated'],
  [`there IS NULL AND is_watched AND is_beyond_horizon`, 'absent_from_history'],
  // Only verify used the word that cannot be understood: the order is in review, and nothing else raises it.
  [`here = 'held' AND answered = 'unknown_status'`, 'unknown_status'],
  [`(there IS NULL OR there = 'pending') AND (is_watched OR here = 'created')`, 'open'],
  // Ended without money: not sent, refused, failed, expired, or reversed before it was ever confirmed.
  [`true`, 'failed'],
];

const asSql = ([when, then]: (typeof RULES)[number]): string =>
  `WHEN ${when} THEN ${then === KEEP_CLASS ? then : `'${then}'`}`;

/** The class of a row of `compared`, as one SQL expression. */
export const CLASS_OF_ROW = `CASE\n  ${RULES.map(asSql).join('\n  ')}\nEND`;

/**
 * The rows whose payments the service is asked about: verify decides what the history only suggests.
 * Rows whose class the latest answer already explains are not asked about again.
 */
export const IS_TO_VERIFY = `is_ours AND (
  class IN ('late_payment', 'sources_disagree', 'paid_unconfirmed', 'paid_contradicted',
    'conflicting_records')
  OR (class IN ('paid_after_decision', 'paid_after_cancel', 'paid_after_deadline')
    AND answered IS DISTINCT FROM 'paid')
  OR is_released AND open_finding IS NOT NULL
  -- It may be a flag that says that the money went back.
  OR class = 'unknown_status' AND is_released AND answered IS NULL
  -- The rest of what a person accepted has come: it counts once verify shows it, too.
  OR class IN ('matched', 'matched_late') AND accepted_amount < amount
    AND (answered IS DISTINCT FROM 'paid' OR came < paid_amount)
  -- More came than the refund and what is left of it explain: it is held once verify shows it.
  OR class = 'refunded' AND accepted_amount < amount AND gone < refunded
  OR is_before AND class <> 'before_begin'
  OR class = 'absent_from_history' AND NOT is_confirmed_by_a_run_lately
  OR (class IN ('underpaid', 'overpaid', 'unit_error', 'currency_mismatch', 'reversed')
    AND answered IS DISTINCT FROM class)
  OR (class = 'charged_again' AND answered IS DISTINCT FROM 'overpaid')
  OR (class = 'reversed' AND there = 'paid')
  OR (class = 'duplicate_payment' AND NOT is_released AND here <> 'held'))`;
