import type { Reading, ServiceAdapter } from './adapter.ts';
import type { Mode, Outcome } from '../platform/prisma/client.ts';
import { minorDigits } from '../platform/money.ts';
import { fromServiceAmount } from './amounts.ts';

export type { Mode, Outcome };

/** What one answer of verify says, exactly. Amounts are in minor units of `currency`. */
export type Evidence = {
  outcome: Outcome;
  word: string | null;
  amount: bigint | null;
  refunded: bigint | null;
  /** What is there by this answer: of paid and reversed what is left; null: it does not speak about money. */
  shows: bigint | null;
  /** What went back by this answer; null: all of it, or it does not say. */
  gone: bigint | null;
  currency: string | null;
  serviceId: string | null;
  /** Why it proves nothing or cannot be read; of a paid record, why it is doubted. */
  doubt: string | null;
  httpStatus: number;
  /** As it was received, without our key. */
  body: string;
};

const SILENT = { shows: null, gone: null, doubt: null };
const NOTHING = { ...SILENT, word: null, amount: null, refunded: null, currency: null, serviceId: null };

/** An answer as it came. */
export type Raw = Pick<Evidence, 'httpStatus' | 'body'>;

/** Characters of a foreign text that are looked at. */
const LOOKED_AT = 2_000;
/** Characters of a foreign text that are kept. */
const KEPT = 500;

/**
 * A text from outside, such as a refusal, as the database takes it, and without addresses: it is logged, too. The text
 * is cut before it is cleaned, because the time that cleaning takes grows with the square of a text without spaces.
 */
export function storable(text: string): string {
  const printable = text
    .slice(0, LOOKED_AT)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ');
  return printable.replace(/[^\s@"'<>(),;]+(?=@)/g, '…').slice(0, KEPT);
}

/** An answer without a record. */
export function bare(raw: Raw, outcome: 'not_found' | 'unreadable', doubt: string | null = null): Evidence {
  return { ...NOTHING, ...raw, outcome, doubt: doubt && storable(doubt) };
}

type Asked = { reference: string; mode: Mode };

/** Judges a record: is it about this payment, and does it prove money? @param asked what verify was asked about */
export function evidenceOf(reading: Reading, asked: Asked, adapter: ServiceAdapter, raw: Raw): Evidence {
  const currency = reading.currency === null ? null : reading.currency.trim().toUpperCase();
  const exact = (value: string | number | null | undefined): bigint | null =>
    value == null || currency === null ? null : fromServiceAmount(value, currency, adapter);
  const [amount, refunded] = [exact(reading.amount), exact(reading.refunded)];
  const facts = {
    word: reading.word,
    amount,
    refunded,
    currency,
    serviceId: reading.id === '' ? null : (reading.id ?? null),
    ...raw,
  };
  const outcome = reading.status;
  const judged = (fault: string): Evidence => ({ ...SILENT, ...facts, outcome: 'unproven', doubt: fault });

  if (reading.reference !== null && reading.reference.toLowerCase() !== asked.reference.toLowerCase())
    return judged('it is about another reference than the one that was asked for');
  if (reading.mode && reading.mode !== asked.mode) return judged(`it is of ${reading.mode} mode`);
  if (outcome === 'reversed') {
    if (currency !== null && minorDigits(currency) === null) return judged('its currency is none of ISO 4217');
    // A figure counts only as what it can be: 0 < refunded < amount says what is left, anything else that nothing is.
    const left = amount !== null && refunded !== null && refunded > 0n && refunded < amount ? amount - refunded : 0n;
    return { ...facts, outcome, shows: left, gone: amount !== null && amount > 0n ? amount - left : null, doubt: null };
  }
  if (outcome !== 'paid') return { ...SILENT, ...facts, outcome };
  if (reading.reference === null) return judged('it names no reference');
  if (currency === null) return judged('it names no currency');
  if (amount === null) return judged('its amount is missing, or not an exact amount of its currency');
  if (amount <= 0n) return judged('its amount is not above zero');
  if (reading.refunded != null && (refunded === null || refunded < 0n)) return judged('what was refunded is no amount');
  // A refund cannot exceed its charge, so a larger figure counts as a refund of the whole charge.
  const named = refunded ?? 0n;
  const gone = named < amount ? named : amount;
  return { ...facts, outcome, shows: amount - gone, gone, doubt: reading.doubt ?? null };
}
