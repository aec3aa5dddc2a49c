/**
 * What a class means, in words; the same rules are conditions in `reconciliation/compare/rules.ts`,
 * in the order in which they are tried.
 */
type Class = {
  rule: string;
  isFinding: boolean;
  /** May resolve itself: raised only when a run still sees it an hour later. */
  isGraced?: true;
  /** What to do about it. */
  todo: string;
};

const finding = (rule: string, todo: string) => ({ rule, isFinding: true, todo }) as const;
const graced = (rule: string, todo: string) => ({ rule, isFinding: true, isGraced: true, todo }) as const;
const quiet = (rule: string) => ({ rule, isFinding: false, todo: '' }) as const;

/**
 * The classes of a row. Every transaction of the history and every payment of ours
 * gets exactly one class.
 */
export const CLASSES = {
  matched: quiet('the history lists one payment of exactly the money that its order was released for'),
  matched_late: quiet(
    'as matched, but the money came after the payment had been closed or was older than eight days',
  ),
  accepted: quiet('the history lists exactly the money, less or more than asked for, that a person accepted'),
  open: quiet(
    'no money on either side yet, and the payment is younger than eight days; or confirmed too ' +
      'recently to be listed',
  ),
  failed: quiet('the payment ended without money, and no source says otherwise'),
  repaired: quiet(
    'the history showed money that we had missed; verify proved it, and this run released the order',
  ),
  older_than_list: quiet(
    'released, and older than the list reaches back; verify has not said anything against it since',
  ),
  before_begin: quiet(
    'from before reconciliation began, as a person said: a transaction that is not ours, or a payment of ' +
      'ours that the service neither lists nor knows',
  ),
  refunded: quiet(
    'the order was released, and no more went back than the shop has written down as refunds, or of ' +
      'several charges those that a person refunded; the service may show the rest of them later, or never',
  ),
  probe: quiet('a payment of test mode that npm run probe opened, without an order'),
  history_truncated: quiet('nothing is listed, and the list was cut: nothing may be called absent from it'),
  underpaid: finding(
    'the history or verify shows less money than was asked for',
    'Accept it, have the shopper pay the rest, or refund it.',
  ),
  overpaid: finding(
    'the history or verify shows more money than was asked for',
    'Refund the difference at the service and write down its number. The order is then paid by itself.',
  ),
  charged_again: finding(
    'the order was released, and the history shows more money than was asked for',
    'Refund the second charge and write down its number. The order stays paid.',
  ),
  unit_error: finding(
    'the history or verify shows a power of ten of the money that was asked for',
    'Call your developer before you touch any money, to look at amountUnit in the dialect.',
  ),
  currency_mismatch: finding(
    'the history or verify shows money in another currency than was asked for',
    'Refund it, and let the shopper order again.',
  ),
  mode_mismatch: finding(
    'the reference is that of a payment of the other mode',
    'Check which key each process uses.',
  ),
  duplicate_payment: finding(
    'another payment has paid the order, or one reference was charged more than once',
    'Refund this payment, not the one that paid the order.',
  ),
  paid_after_decision: finding(
    'the history or verify shows exactly the money for a payment that a person has decided ' +
      'about: it pays nothing by itself',
    'Refund it, or let the shopper order again.',
  ),
  paid_after_cancel: finding(
    'the history or verify shows exactly the money for a payment whose order was cancelled',
    'Refund it.',
  ),
  paid_after_deadline: finding(
    'the history or verify shows exactly the money for a payment whose order had missed its deadline',
    'Refund it, or let the shopper order again.',
  ),
  late_payment: finding(
    'the history shows exactly the money for a payment that had been closed, and verify could ' +
      'not be asked yet',
    'Reconcile again: that confirms the payment. If you can no longer deliver, refund it.',
  ),
  unknown_reference: finding(
    'the history lists a transaction whose reference is none of ours',
    'Find out who made it, then refund it or book it where it belongs.',
  ),
  absent_from_history: finding(
    'the list is whole and lacks a payment that was confirmed, or that has been open for more ' +
      'than eight days',
    'Ask the service what became of it.',
  ),
  paid_unconfirmed: finding(
    'the order was released, and now neither history nor verify says that it was paid',
    'Ask the service before you deliver anything more.',
  ),
  paid_contradicted: finding(
    'the order was released and the history lists it as paid, and the latest verification says ' +
      'anything but exactly paid',
    'Ask the service before you deliver anything more.',
  ),
  reversed: finding(
    'the order was released, and history or verify says that more of the money went back than refunds explain',
    'If you refunded it, write the refund down with its number. If not, stop the parcel or get the goods back.',
  ),
  unknown_status: finding(
    'the history or verify uses a word that the dialect does not explain',
    'Add the word to statuses.also in the dialect, restart, and have the held payments asked about again (recheck).',
  ),
  conflicting_records: finding(
    'the history lists several records under one reference that cannot all be true of one paid transaction',
    'Ask the service how much of the money is left.',
  ),
  sources_disagree: graced(
    'verify, history and signed webhooks contradict each other about money, for an hour and more',
    'Ask the service which of them is right.',
  ),
  unreadable: finding(
    'a record of the history has no readable reference, status or money',
    'Compare the record with the pointers in the dialect.',
  ),
  /** Concerns a currency, not a row: the sum of the history is checked against the service's balance. */
  cash_difference: graced(
    'collected minus transferred out is not the balance of the currency, for an hour and more',
    'Ask the service for its statement of fees and corrections.',
  ),
} as const satisfies Record<string, Class>;

export type ReconciliationClass = keyof typeof CLASSES;

/** The classes that a person sees: each has words of its own (`case-text.ts`). */
export type FindingClass = {
  [Name in ReconciliationClass]: (typeof CLASSES)[Name]['isFinding'] extends true ? Name : never;
}[ReconciliationClass];

/** Classes of rows that are none of our business: a report counts them, and they are never raised. */
export const SET_ASIDE_CLASSES = ['before_begin', 'probe'] as const satisfies readonly ReconciliationClass[];

const NAMES = Object.keys(CLASSES) as ReconciliationClass[];
const classOf = (name: ReconciliationClass): Class => CLASSES[name];

/** The classes that an operator has to examine. */
export const FINDING_CLASSES: readonly ReconciliationClass[] = NAMES.filter(
  (name) => classOf(name).isFinding,
);

/** Those of them that may resolve themselves. */
export const GRACED_CLASSES: readonly ReconciliationClass[] = NAMES.filter(
  (name) => classOf(name).isGraced === true,
);

/**
 * Of a run. `incomplete` takes precedence over `findings`: a list that was not read whole allows no
 * verdict on the whole.
 */
export type Verdict = 'agreed' | 'findings' | 'incomplete';
