/** Outcomes of a verify answer by which the service holds money of the payment. */
export const SHOWS_MONEY: readonly string[] = [
  'paid',
  'underpaid',
  'overpaid',
  'unit_error',
  'currency_mismatch',
];
/** Outcomes by which it holds none. Any other outcome says nothing about the money. */
export const SHOWS_NO_MONEY: readonly string[] = ['reversed', 'failed', 'expired'];
