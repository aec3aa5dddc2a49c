import { formatMajor, minorDigits, parseMajor, type Money } from '../platform/money.ts';
import type { ServiceAdapter } from './adapter.ts';

type Units = Pick<ServiceAdapter, 'amountUnit' | 'decimals'>;

/** A number has more digits than a double holds exactly, or none of its own text. */
const MAX_DIGITS = 15;

/**
 * Money as the service wants it: a JSON number in its unit, with its number of decimals. Null: the
 * service has no such amount (a finer one than it knows), or no number says it exactly.
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
 * Minor units of ISO 4217, exactly, of what the service wrote; null: it is not an exact amount of
 * that currency.
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
 * The decimal text of an amount: of a number its shortest one, which is what was sent as long as it
 * has at most 15 digits. `8499.999999999998` has more, so it is unreadable and not silently 8500.
 */
function plainText(value: string | number): string | null {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) return null;
  const text = String(value);
  const [, whole = '', fraction = ''] = /^-?(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction.replace(/0+$/, '')).replace(/^0+/, '');
  return whole === '' || digits.length > MAX_DIGITS ? null : text;
}
