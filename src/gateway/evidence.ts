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
  /** What the answer reports as still there. Null: it is neither paid nor reversed. */
  balance: bigint | null;
  /** What the answer reports as gone. Null: all of it, or the answer does not say. */
  outflow: bigint | null;
  currency: string | null;
  serviceId: string | null;
  /** Why it proves nothing or cannot be read; of a paid record, why it is doubted. */
  doubt: string | null;
  httpStatus: number;
  /** As it was received, without our key. */
  body: string;
};

const SILENT = { balance: null, outflow: null, doubt: null };
const NOTHING = { ...SILENT, word: null, amount: null, refunded: null, currency: null, serviceId: null };

/** An answer as it came. */
export type Raw = Pick<Evidence, 'httpStatus' | 'body'>;

/** Characters of a foreign text that are looked at. */
const LOOKED_AT = 2_000;
/** Characters of a foreign text that are kept. */
const KEPT = 500;

/**
 * A text from outside, such as a refusal, as the database takes it, and without addresses: it is
 * logged, too. The text is cut before it is cleaned, because the time that cleaning takes grows
 * with the square of a text without spaces.
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

/**
 * Judges a record: is it about this payment, and does it prove money?
 * @param asked what verify was asked about
 */
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
    // Only 0 < refunded < amount says that something is left.
    const isPart = amount !== null && refunded !== null && refunded > 0n && refunded < amount;
    const balance = isPart ? amount - refunded : 0n;
    const outflow = amount !== null && amount > 0n ? amount - balance : null;
    return { ...facts, outcome, balance, outflow, doubt: null };
  }
  if (outcome !== 'paid') return { ...SILENT, ...facts, outcome };
  if (reading.reference === null) return judged('it names no reference');
  if (currency === null) return judged('it names no currency');
  if (amount === null) return judged('its amount is missing, or not an exact amount of its currency');
  if (amount <= 0n) return judged('its amount is not above zero');
  if (reading.refunded != null && (refunded === null || refunded < 0n)) return judged('what was refunded is no amount');
  // A refund cannot exceed its charge, so a larger figure counts as a refund of the whole charge.
  const named = refunded ?? 0n;
  const outflow = named < amount ? named : amount;
  return { ...facts, outcome, balance: amount - outflow, outflow, doubt: reading.doubt ?? null };
}
