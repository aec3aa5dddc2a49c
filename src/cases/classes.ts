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

const finding = (rule: string, todo: string): Class => ({ rule, isFinding: true, todo });
const graced = (rule: string, todo: string): Class => ({ rule, isFinding: true, isGraced: true, todo });
const quiet = (rule: string): Class => ({ rule, isFinding: false, todo: '' });

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
    'the order was released, and no more went back than the shop has written down as refunds; the service may ' +
      'show the rest of them later, or never',
  ),
  probe: quiet('a payment of test mode that npm run probe opened, and nobody ordered'),
  history_truncated: quiet('nothing is listed, and the list was cut: nothing may be called absent from it'),
  underpaid: finding(
    'the history shows less money than was asked for',
    'less money came than was asked for: accept it, ask the shopper for the rest, or refund',
  ),
  overpaid: finding(
    'the history shows more money than was asked for',
    'more money came than was asked for: refund the surplus and note its number, and the order is paid by itself',
  ),
  charged_again: finding(
    'the order was released, and the history shows more money than was asked for',
    'the shopper was charged again after the order was paid: refund the surplus',
  ),
  unit_error: finding(
    'the history shows a power of ten of the money that was asked for',
    'amounts are a power of ten apart: check amountUnit in the dialect first',
  ),
  currency_mismatch: finding(
    'the history shows money in another currency than was asked for',
    'the money is in another currency: refund it',
  ),
  mode_mismatch: finding(
    'the reference is that of a payment of the other mode',
    'test and live are mixed up: check which key which process uses',
  ),
  duplicate_payment: finding(
    'another payment has paid the order, or one reference was charged more than once',
    'the order was paid twice: refund this payment',
  ),
  paid_after_decision: finding(
    'the history or verify shows exactly the money for a payment that a person has decided ' +
      'about: it pays nothing by itself',
    'a person has decided about this money, and now the service shows all of it: refund it, or ' +
      'let the shopper order again',
  ),
  paid_after_cancel: finding(
    'the history or verify shows exactly the money for a payment whose order was cancelled',
    'money came for a cancelled order: refund it',
  ),
  paid_after_deadline: finding(
    'the history or verify shows exactly the money for a payment whose order had expired for good',
    'money came after the deadline of its order: refund it, or let the shopper order again',
  ),
  late_payment: finding(
    'the history shows exactly the money for a payment that had been closed, and verify could ' +
      'not be asked yet',
    'money came for a payment that was closed: run again to confirm it, or refund',
  ),
  unknown_reference: finding(
    'the history lists a transaction whose reference is none of ours',
    'the service holds a transaction that is not ours: find out who made it',
  ),
  absent_from_history: finding(
    'the list is whole and lacks a payment that was confirmed, or that has been open for more ' +
      'than eight days',
    'the service does not list this payment: ask the service',
  ),
  paid_unconfirmed: finding(
    'the order was released, and now neither history nor verify says that it was paid',
    'our order is paid, the service does not say so any more: ask the service before giving more value',
  ),
  paid_contradicted: finding(
    'the order was released and the history lists it as paid, and the latest verification says ' +
      'anything but exactly paid',
    'verify no longer confirms the money that released this order: ask the service before giving more value',
  ),
  reversed: finding(
    'the order was released, and history or verify says that more of the money went back than refunds explain',
    'the money went back after the order was released: if the shop gave it back, write the refund down; else ' +
      'get the goods back or write it off',
  ),
  unknown_status: finding(
    'the history uses a word that the dialect does not explain',
    'the service uses a word that the dialect does not explain: add it to statuses in the dialect',
  ),
  conflicting_records: finding(
    'the history lists several records under one reference that cannot all be true of one paid transaction',
    'the service lists this payment as paid and as something else: ask the service what is left of the money',
  ),
  sources_disagree: graced(
    'verify, history and signed webhooks contradict each other about money, for an hour and more',
    'history, verify and webhooks say different things: ask the service',
  ),
  unreadable: finding(
    'a record of the history has no readable reference, status or money',
    'a record could not be read: compare it with the pointers in the dialect',
  ),
  /** Concerns a currency, not a row: the sum of the history is checked against the service's balance. */
  cash_difference: graced(
    'collected minus transferred out is not the balance of the currency, for an hour and more',
    'the service holds other money than its history adds up to: ask for its statement of fees ' +
      'and corrections',
  ),
} as const satisfies Record<string, Class>;

export type ReconciliationClass = keyof typeof CLASSES;

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
