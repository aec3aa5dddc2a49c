import { z } from 'zod';

import { newId } from '../../../src/platform/ids.ts';
import { webAddress } from '../api/initialize.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { parseMoney } from '../money.ts';

const formSchema = z.object({ amount: z.string().max(16), currency: z.string(), redirectUrl: webAddress });

/**
 * Opens a checkout in test mode from the form of the page.
 * @returns the path of its page, or null for an amount or an address that initialize would refuse too
 */
export async function openByHand(ledger: Ledger, body: unknown): Promise<string | null> {
  const form = formSchema.safeParse(body);
  const asked = form.success
    ? parseMoney(form.data.amount.trim(), form.data.currency.trim().toUpperCase())
    : null;
  if (!form.success || asked === null || asked.minor <= 0n) return null;
  const { redirectUrl } = form.data;
  const order = { email: 'shopper@example.com', asked, reference: newId(), redirectUrl };
  const { token } = ledger.initialize('test', order);
  await ledger.saved();
  return `/checkout/${token}`;
}
