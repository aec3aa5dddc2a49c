import { isLosslessNumber, type LosslessNumber } from 'lossless-json';
import { z } from 'zod';

import {
  AMOUNT_CURRENCY,
  AMOUNT_PATTERN,
  EMAIL_MAX_LENGTH,
  MINIMUM_MAJOR_UNITS,
  REDIRECT_URL_MAX_LENGTH,
  REFERENCE_PATTERN,
  REFUSALS,
  REQUIRED_FIELDS,
} from '../assumptions.ts';
import type { Mode } from '../keys.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { decimalsOf, parseMoney, type Money } from '../money.ts';
import type { Profile } from '../profiles/profile.ts';
import type { Answer } from './answer.ts';

/** Where a shopper may be sent back to. */
export const webAddress = z
  .string()
  .max(REDIRECT_URL_MAX_LENGTH)
  .refine(isWebAddress, 'must be an http or https address');

const requestSchema = z.object({
  email: z.email().max(EMAIL_MAX_LENGTH),
  amount: z.custom<LosslessNumber>(isLosslessNumber, 'must be a number').transform(({ value }) => value),
  localCurrency: z.string(),
  amountCurrency: z.string(),
  reference: z.string().regex(REFERENCE_PATTERN, 'may hold 1 to 64 letters, digits, "-" and "_"'),
  redirectUrl: webAddress,
} satisfies Record<(typeof REQUIRED_FIELDS)[number], z.ZodType>);

type InitializeRequest = z.infer<typeof requestSchema>;

/**
 * Opens a transaction and answers with the address of its checkout page.
 * @param body parsed by `lossless-json`, so that the amount still has its own digits
 */
export function initialize(
  ledger: Ledger,
  profile: Profile,
  mode: Mode,
  body: unknown,
  checkoutUrl: (token: string) => string,
): Answer {
  const request = requestSchema.safeParse(body);
  if (!request.success) return profile.refused(REFUSALS.malformed, complaint(request.error));
  const asked = priceOf(request.data, profile.unit);
  if (typeof asked === 'string') return profile.refused(REFUSALS.ruleBroken, asked);
  const { email, reference, redirectUrl } = request.data;
  const first = ledger.find(mode, reference);
  if (first !== undefined) {
    return profile.duplicate({ transaction: first, checkoutUrl: checkoutUrl(first.token) });
  }
  const transaction = ledger.initialize(mode, { email, asked, reference, redirectUrl });
  return profile.opened({ transaction, checkoutUrl: checkoutUrl(transaction.token) });
}

/** The price, or what is wrong with it. */
function priceOf(
  { amount, localCurrency, amountCurrency }: InitializeRequest,
  unit: Profile['unit'],
): Money | string {
  if (amountCurrency !== AMOUNT_CURRENCY) return `amountCurrency must be "${AMOUNT_CURRENCY}"`;
  const decimals = decimalsOf(localCurrency);
  if (decimals === null) return 'localCurrency must be an ISO 4217 code in capitals';
  const money = moneyIn(unit, amount, localCurrency);
  if (money === null) {
    return unit === 'minor'
      ? `amount must be a whole number of the smallest units of ${localCurrency}`
      : `amount must be a plain number of at most ${decimals} decimals in ${localCurrency}`;
  }
  if (money.minor < MINIMUM_MAJOR_UNITS * 10n ** BigInt(decimals)) {
    return `amount must be at least ${MINIMUM_MAJOR_UNITS.toString()} ${localCurrency}`;
  }
  return money;
}

function moneyIn(unit: Profile['unit'], amount: string, currency: string): Money | null {
  if (!AMOUNT_PATTERN.test(amount)) return null;
  if (unit === 'major') return parseMoney(amount, currency);
  return amount.includes('.') ? null : { minor: BigInt(amount), currency };
}

function isWebAddress(text: string): boolean {
  // The parser forgives blanks and line breaks, a header does not.
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return false;
  const { protocol, username } = new URL(text);
  return (protocol === 'http:' || protocol === 'https:') && username === '';
}

/** Names the fields, never their values. */
function complaint(error: z.ZodError): string {
  const faults = error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  return `the request is malformed (${faults.join('; ')})`;
}
