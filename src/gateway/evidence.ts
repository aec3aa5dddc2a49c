import type { Reading, ServiceAdapter } from './adapter.ts';
import type { Mode, Outcome } from '../platform/prisma/client.ts';
import { minorDigits } from '../platform/money.ts';
import { fromServiceAmount } from './amounts.ts';

export type { Mode, Outcome };

/** The content of one answer of verify, exactly. Amounts are in minor units of `currency`. */
export type Evidence = {
  outcome: Outcome;
  word: string | null;
  amount: bigint | null;
  refunded: bigint | null;
  /**
   * The amount that the answer reports as still there. Null if the answer is neither paid nor
   * reversed.
   */
  balance: bigint | null;
  /**
   * The amount that the answer reports as gone. Null if all of it is gone, or if the answer does
   * not say.
   */
  outflow: bigint | null;
  currency: string | null;
  serviceId: string | null;
  /** Why the answer proves nothing or cannot be read. For a paid record, why it is doubted. */
  doubt: string | null;
  httpStatus: number;
  /** As received, without our key. */
  body: string;
};

const SILENT = { balance: null, outflow: null, doubt: null };
const NOTHING = { ...SILENT, word: null, amount: null, refunded: null, currency: null, serviceId: null };

/** An answer as received. */
export type Raw = Pick<Evidence, 'httpStatus' | 'body'>;

/** The number of characters of a text from outside that are processed. */
const LOOKED_AT = 2_000;
/** The number of characters of a text from outside that are kept. */
const KEPT = 500;

/**
 * A text from outside, such as a refusal, in a form that the database accepts. E-mail addresses are
 * removed, because the text is also logged. It is cut before it is cleaned, because the time of the
 * cleaning is quadratic in a text without spaces.
 */
export function storable(text: string): string {
  const printable = text
    .slice(0, LOOKED_AT)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ');
  return printable.replace(/[^\s@"'<>(),;]+(?=@)/g, '…').slice(0, KEPT);
}

/** Evidence of an answer without a record. */
export function bare(raw: Raw, outcome: 'not_found' | 'unreadable', doubt: string | null = null): Evidence {
  return { ...NOTHING, ...raw, outcome, doubt: doubt && storable(doubt) };
}

type Asked = { reference: string; mode: Mode };

/**
 * Judges a record: whether it is about this payment, and whether it proves money.
 * @param asked the reference and the mode of the payment
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
    return judged('it is about another reference');
  if (reading.mode && reading.mode !== asked.mode) return judged(`it is of ${reading.mode} mode`);
  if (outcome === 'reversed') {
    if (currency !== null && minorDigits(currency) === null) return judged('its currency is not in ISO 4217');
    // Only 0 < refunded < amount means that a part is left.
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
  if (reading.refunded != null && (refunded === null || refunded < 0n))
    return judged('its refunded amount is not an amount');
  // A refund cannot exceed its charge, so a larger figure counts as a refund of the whole charge.
  const named = refunded ?? 0n;
  const outflow = named < amount ? named : amount;
  return { ...facts, outcome, balance: amount - outflow, outflow, doubt: reading.doubt ?? null };
}
