import { formatMajor, minorDigits, parseMajor, type Money } from '../platform/money.ts';
import type { ServiceAdapter } from './adapter.ts';

type Units = Pick<ServiceAdapter, 'amountUnit' | 'decimals'>;

/** A longer number has more digits than a double represents exactly, or has no unique text. */
const MAX_DIGITS = 15;

/**
 * Money as the service expects it: a JSON number in its unit and with its decimals. Null if the
 * amount is finer than the service's decimals, or if no number represents it exactly.
 */
export function toServiceAmount({ amount, currency }: Money, { amountUnit, decimals }: Units): number | null {
  const [ours, theirs] = digitsOf(currency, decimals);
  if (ours === null || theirs === null) return null;
  const units = amount * 10n ** BigInt(theirs);
  if (units % 10n ** BigInt(ours) !== 0n) return null;
  const minor = units / 10n ** BigInt(ours);
  const text = amountUnit === 'minor' ? minor.toString() : formatMajor({ amount: minor, currency }, theirs);
  const value = Number(text);
  return fromServiceAmount(value, currency, { amountUnit, decimals }) === amount ? value : null;
}

/**
 * The amount that the service wrote, in exact ISO 4217 minor units. Null if it is not an exact
 * amount of the currency.
 */
export function fromServiceAmount(
  value: string | number,
  currency: string,
  { amountUnit, decimals }: Units,
): bigint | null {
  const [ours, theirs] = digitsOf(currency, decimals);
  const text = plainText(value);
  if (ours === null || theirs === null || text === null) return null;
  const minor = parseMajor(text, currency, amountUnit === 'minor' ? 0 : theirs);
  if (minor === null || ours === theirs) return minor;
  const units = minor * 10n ** BigInt(ours);
  return units % 10n ** BigInt(theirs) === 0n ? units / 10n ** BigInt(theirs) : null;
}

function digitsOf(currency: string, decimals: Units['decimals']): [ours: number | null, theirs: number | null] {
  const ours = minorDigits(currency);
  return [ours, decimals?.[currency] ?? ours];
}

/**
 * The decimal text of an amount. For a number, it is the shortest text, which is what was sent if
 * it has at most 15 digits. `8499.999999999998` has more, so it is unreadable instead of silently
 * 8500.
 */
function plainText(value: string | number): string | null {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) return null;
  const text = String(value);
  const [, whole = '', fraction = ''] = /^-?(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction.replace(/0+$/, '')).replace(/^0+/, '');
  return whole === '' || digits.length > MAX_DIGITS ? null : text;
}
