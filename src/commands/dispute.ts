import type { Program } from '../program.ts';
import { disputePack } from '../reporting/dispute.ts';
import { disputeOf } from '../reporting/dispute.sql.ts';
import { UsageError, type Arguments } from './arguments.ts';

/** Everything an acquirer asks about one order, as one file on standard output. */
export async function dispute(
  { database }: Program,
  { positionals: [name, ...more], values }: Arguments,
): Promise<{ text: string; exitCode: number }> {
  if (name === undefined || more.length > 0)
    throw new UsageError('which order? give its id, the reference of a payment, or its external id');
  const found = await disputeOf(database, name);
  if (found === null) return { text: 'There is no such order and no such payment.', exitCode: 1 };
  const text = disputePack(found, {
    as: values.json ? 'json' : 'html',
    withCustomer: values['with-customer'],
  });
  return { text, exitCode: found.order.contradictions.length === 0 ? 0 : 1 };
}
