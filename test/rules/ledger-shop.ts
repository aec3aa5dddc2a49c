import { classify, type Facts, type Finding } from '../../src/cases/classes.ts';
import { effectOf, type Decision } from '../../src/cases/decisions.ts';
import { decide } from '../../src/payments/decide.ts';
import { refundableOf, type Booking } from '../../src/ledger/books.ts';
import * as rules from '../../src/ledger/ledger.ts';
import * as positions from '../../src/ledger/position.ts';
import type { HistoryRow } from '../../src/ledger/history.ts';
import type { Answer } from '../../src/ledger/sources.ts';

const CURRENCY = 'NGN';
const asText = (digest: Uint8Array): string => Buffer.from(digest).toString('hex');

/**
 * An order with one payment, as the pure rules treat it. It does what the program does, without a
 * database.
 */
export class LedgerShop {
  ledger = rules.EMPTY;
  isPaid = false;
  isEnded = false;
  readonly lagMin = 60;
  private isDecided = false;
  private isInHistory = false;
  private said: Facts['verify'] = null;
  private verifiedAt: Date | null = null;
  private failed: { id: string | null } | null = null;
  private acknowledged: string[] = [];

  readonly price: bigint;

  constructor(price: bigint) {
    this.price = price;
  }

  verify(answer: Answer, now: Date): void {
    this.verifiedAt = now;
    this.failed = answer.outcome === 'failed' || answer.outcome === 'expired' ? { id: answer.id } : null;
    this.ledger = rules.observeVerify(this.ledger, answer);
    const { outcome, isDoubted } = answer;
    const isUnproven = outcome === 'unproven';
    const balance = outcome === 'paid' || outcome === 'reversed' ? answer.balance : 0n;
    const doubt = isDoubted ? 'the adapter doubts it' : null;
    this.said = { outcome: isUnproven ? 'pending' : outcome, word: outcome, balance, doubt };
    const isFree = positions.historyLeaves(this.ledger, this.price) && this.ledger.books.captured === 0n;
    const evidence = { outcome: isUnproven ? ('pending' as const) : outcome, balance, currency: CURRENCY, doubt };
    const order = this.order();
    if (decide({ evidence, order, isDecided: this.isDecided, isLeft: isFree }) === 'mark-paid') {
      this.book({ captured: this.price }, now);
      this.isPaid = true;
    }
    this.conclude(now);
  }

  history(rows: readonly HistoryRow[], readAt: Date, isInReach: boolean, isInHistory = rows.length > 0): void {
    this.ledger = rules.observeHistory(this.ledger, rows, { at: readAt, isInReach, failed: this.failed });
    this.isInHistory = isInHistory;
    this.conclude(readAt);
  }

  refund(amount: bigint, isOffProvider: boolean, now: Date): void {
    this.book({ refunded: amount, offProvider: isOffProvider ? amount : 0n }, now);
    this.conclude(now);
  }

  /** @returns the reason if it is not allowed, or null */
  decide(as: Decision, elsewhere: boolean, now: Date): string | null {
    const open = this.openCase();
    if (open === undefined) return 'no case is open';
    const order = { ...this.order(), isOurCurrency: true };
    const about = { as, elsewhere, case: open, order, verifyBalance: this.said?.balance ?? 0n };
    const effect = effectOf({ ...about, ledger: this.ledger });
    if (typeof effect === 'string') return effect;
    if (as === 'explain') this.acknowledged.push(asText(open.digest));
    else this.isDecided = true;
    this.book(effect.booking, now);
    if (effect.marksPaid) this.isPaid = true;
    if (effect.endsOrder && !this.isPaid) this.isEnded = true;
    this.conclude(now);
    return null;
  }

  book(booking: Booking, now: Date): void {
    this.ledger = rules.book(this.ledger, booking, now);
  }

  expected(): bigint {
    return this.position().expected;
  }

  /** The amount that can still be refunded. */
  refundable(): bigint {
    return refundableOf(this.ledger.books);
  }

  position(): positions.Position {
    return positions.positionOf(this.ledger, this.lagMin);
  }

  /** The most urgent finding that no `explain` decision has acknowledged. */
  openCase(): Finding | undefined {
    return this.findings().find(({ digest }) => !this.acknowledged.includes(asText(digest)));
  }

  findings(): Finding[] {
    const { verify, history } = this.ledger;
    return classify({
      position: this.position(),
      reported: { verify, history },
      isInHistory: this.isInHistory,
      order: this.order(),
      currency: CURRENCY,
      asked: this.price,
      isInProof: this.ledger.books.captured > 0n,
      isDecided: this.isDecided,
      verify: this.said,
      isOutflowLate: positions.isOutflowLate(this.ledger, this.verifiedAt),
      isUnreadable: false,
    });
  }

  private order() {
    const { price, isPaid, isEnded } = this;
    return { amount: price, due: price, currency: CURRENCY, isPaid, isEnded };
  }

  private conclude(now: Date): void {
    const returned = positions.returnedByItself(this.ledger);
    if (returned > 0n) this.book({ returned }, now);
    const digests = this.findings().map(({ digest }) => asText(digest));
    this.acknowledged = this.acknowledged.filter((one) => digests.includes(one));
  }
}
