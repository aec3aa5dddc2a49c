import { max, min, sum } from './sources.ts';

/**
 * What we decided about the money. Each figure only grows, by a proof of payment or by a decision.
 */
export type Books = {
  /** Received money that pays the order. */
  captured: bigint;
  /** Surplus that the shop keeps. */
  retained: bigint;
  /** Surplus that goes back. It was never revenue. */
  returned: bigint;
  /** Captured money that goes back. */
  refunded: bigint;
  /** Money that is gone and no longer expected. */
  writtenOff: bigint;
  /**
   * The part of returned and refunded that goes another way, such as a bank transfer. The provider
   * never shows it.
   */
  offProvider: bigint;
  /** Booked as going out, but it did not go, or it came back. */
  recovered: bigint;
};

export type Booking = Partial<Books>;

export const NOTHING: Books = {
  captured: 0n,
  retained: 0n,
  returned: 0n,
  refunded: 0n,
  writtenOff: 0n,
  offProvider: 0n,
  recovered: 0n,
};

export const BOOK_FIGURES = Object.keys(NOTHING) as (keyof Books)[];

/** Received money that has a meaning. */
export function allocatedOf({ captured, retained, returned }: Books): bigint {
  return captured + retained + returned;
}

/** What must leave through the provider. */
export function bookedOutOf({ returned, refunded, writtenOff, offProvider, recovered }: Books): bigint {
  return returned + refunded + writtenOff - offProvider - recovered;
}

/** What should be at the provider. */
export function expectedOf(books: Books): bigint {
  return allocatedOf(books) - bookedOutOf(books);
}

/**
 * How much of the captured and retained money is still ours, in minor units. Below 0: more was sent
 * out than was ours. With 8500 captured, 5000 charged back and written off, and 3500 refunded by
 * bank transfer, it is 0, although 3500 are still at the provider.
 */
export function keptOf({ captured, retained, refunded, writtenOff, recovered }: Books): bigint {
  return captured + retained - max(0n, refunded + writtenOff - recovered);
}

/** How much of the captured money can still be refunded through the provider, in minor units. */
export function refundableOf(books: Books): bigint {
  // Of what was recovered, only refunds that did not go are captured money.
  const notRefunded = books.captured - max(0n, books.refunded - books.recovered);
  return max(0n, min(notRefunded, min(keptOf(books), expectedOf(books))));
}

/**
 * The same of all payments that paid an order. The customer may have got back more of one payment
 * than was captured of it, and then that much less of the others can be refunded.
 */
export function refundableOfAll(all: readonly Books[]): bigint {
  return max(0n, min(sum(all.map(refundableOf)), sum(all.map(keptOf))));
}
