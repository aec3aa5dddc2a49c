import type { Database } from '../platform/database/database.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import { hintAndLease, noteAsking, type AskRequest } from '../payments/checks.sql.ts';
import type { Confirm } from '../payments/confirm.ts';
import { postponeAfterFailure } from '../payments/due-payments.ts';
import type { Told } from './action-form.ts';

/**
 * Asks the service about a payment at once, for an operator. It is a hint like any other: it proves
 * nothing, it causes three calls at once and then one in ten seconds at most, and when the service cannot
 * be asked, the scheduled checks continue.
 */
export type AskService = (ask: AskRequest) => Promise<Told>;

export type AskParts = { database: Database; mode: Mode; confirm: Confirm; logger: Logger };

const RETRY_SEC = 5;

export function createAskService({ database, mode, confirm, logger }: AskParts): AskService {
  return async (ask) => {
    const { reference, by } = ask;
    const orderId = await noteAsking(database, mode, ask);
    if (orderId === null) return { unknown: 1 };
    logger.info({ reference, orderId, by }, 'check requested by an operator');
    const payment = await hintAndLease(database, reference, mode, { isTrusted: true });
    if (payment?.isLeased !== true) return { 'asked-soon': 1 };
    try {
      await confirm(payment, 'operator');
      return { asked: 1 };
    } catch (error) {
      await postponeAfterFailure({ database, logger }, payment, error, RETRY_SEC);
      return { 'not-answered': 1 };
    }
  };
}
