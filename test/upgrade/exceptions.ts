/** Held and missing money, in minor units. */
export type Amounts = { held: string; missing: string };
type Exception = {
  /** The figures of ledger.ts from the upgrade on. */
  figures?: Amounts;
  /** The open case after the next run, instead of the earlier case. */
  opens?: Amounts & { class: string };
};

const ALL = { held: '0', missing: '850000' };

/**
 * The differences between version 1.1 and 1.0.0, by reference. Every order is one of NGN 8500.00.
 * The books show the difference from the upgrade on, and not before.
 */
export const EXCEPTIONS = new Map<string, Exception>([
  // Paid, and then both sources show no money and say ON_HOLD. In 1.0.0 that was a case without an
  // amount in the books.
  ['1uff540403cll6vh6fzmk5cr9v', { figures: ALL }],
  ['zumbr3pndfqwlt88dscy9w9pyh', { figures: ALL }],
  ['j6fuv48kcheiosf6s0e8mngdt5', { figures: ALL }],
  // Refunded, and charged back as well: more money left than ever came. 1.0.0 had a case without an
  // amount in the books.
  ['3bg0hevhx1rv3jvltjn434qvm5', { figures: ALL }],
  ['vzraoo2ksje5eel7w9jclwti2d', { figures: ALL }],
  ['t4mv4c3gfbo5cugjpdhfxnb9z6', { figures: ALL }],
  // Written off, and the dispute was won: 1.0.0 held that as new money.
  [
    '4ow6ow3au5k3ixuqn9w9tv4yl2',
    { figures: { held: '0', missing: '0' }, opens: { class: 'refund_not_shown', ...ALL } },
  ],
  // Verify reports another charge as reversed than the one that paid: 1.0.0 waited two days for the
  // history.
  ['ohq34499m2o3rjkudail4kuu6g', { figures: ALL, opens: { class: 'reversed', ...ALL } }],
  // Verify reports another charge as failed than the one that paid: 1.0.0 waited two days for the
  // history.
  ['vhrv4uqkcnnkpvyktpx3zutaiq', { opens: { class: 'contradicted', ...ALL } }],
  // One of two charges in the history was reversed. Verify shows only that one, and so contradicts
  // the history.
  ['q4dibxqzdcbuuo4craz7rmyyhn', { opens: { class: 'contradicted', ...ALL } }],
]);
