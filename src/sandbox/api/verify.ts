import { HTTP_STATUS, recordOf } from '../assumptions.ts';
import type { Mode } from '../keys.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { accepted, refused, type Answer } from './answer.ts';

/** Tells the status of one transaction. One of the other mode is as unknown as one that never was. */
export function verify(ledger: Ledger, mode: Mode, reference: string): Answer {
  const transaction = ledger.find(mode, reference);
  if (transaction === undefined)
    return refused(HTTP_STATUS.unknownReference, 'no transaction has this reference');
  return accepted('verified', 'transaction found', recordOf(transaction));
}
