/**
 * Where a row may end. Every transaction of the history and every payment of ours ends in exactly one class; the rules
 * stand in `classification/repository.ts`, once, in the order in which they are tried.
 */
export const CLASSES = {
  matched: { isFinding: false, todo: '' },
  matched_late: { isFinding: false, todo: '' },
  open: { isFinding: false, todo: '' },
  failed: { isFinding: false, todo: '' },
  repaired: { isFinding: false, todo: '' },
  /** Not a disagreement: the list was cut, so nothing may be called absent. The verdict is `incomplete`. */
  history_truncated: { isFinding: false, todo: '' },
  underpaid: {
    isFinding: true,
    todo: 'less money came than was asked for: ask the shopper for the rest or refund',
  },
  overpaid: { isFinding: true, todo: 'more money came than was asked for: refund the surplus' },
  unit_error: {
    isFinding: true,
    todo: 'amounts are a power of ten apart: check amountUnit in the dialect first',
  },
  currency_mismatch: {
    isFinding: true,
    todo: 'the money is in another currency: refund it, or settle by hand',
  },
  mode_mismatch: {
    isFinding: true,
    todo: 'test and live are mixed up: check which key which process uses',
  },
  duplicate_payment: { isFinding: true, todo: 'the order was paid twice: refund this payment' },
  late_payment: {
    isFinding: true,
    todo: 'money came for a payment that was closed: run again to settle it, or refund',
  },
  unknown_reference: {
    isFinding: true,
    todo: 'the service holds a transaction that is not ours: find out who made it',
  },
  absent_from_history: { isFinding: true, todo: 'the service does not list this payment: ask the service' },
  paid_unconfirmed: {
    isFinding: true,
    todo: 'our order is paid, the service does not say so any more: ask the service before giving more value',
  },
  reversed: {
    isFinding: true,
    todo: 'the money went back after the order was released: get the goods back or write it off',
  },
  unknown_status: {
    isFinding: true,
    todo: 'the service uses a word nobody explained: add it to statuses in the dialect',
  },
  sources_disagree: {
    isFinding: true,
    todo: 'history and verify say different things: if it lasts, ask the service',
  },
  unreadable: {
    isFinding: true,
    todo: 'a record could not be read: compare it with the pointers in the dialect',
  },
} as const satisfies Record<string, { isFinding: boolean; todo: string }>;

export type ReconciliationClass = keyof typeof CLASSES;

/** The classes that somebody has to look at. */
export const FINDING_CLASSES: readonly ReconciliationClass[] = (
  Object.keys(CLASSES) as ReconciliationClass[]
).filter((name) => CLASSES[name].isFinding);
