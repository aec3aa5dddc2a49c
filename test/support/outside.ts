import { expect } from '@jest/globals';
import { eventually } from './eventually.ts';
import type { Reply, Shop } from './shop.ts';

// Helpers for tests that call the program from outside.

export type ProblemBody = { detail?: string; errors?: { path: string; message: string }[]; orderId?: string };

/** Texts that would reveal the program's internals or personal data. */
const LEAKS = /prisma|postgres|select |node_modules|\.[jt]s\b|\\n +at |sk_test|@/i;

/** Expects a problem of RFC 9457 that reveals nothing. @param type its name in /problems/… */
export function expectProblem({ status, headers, body }: Reply, wanted: number, type: string): ProblemBody {
  expect({ status, body }).toMatchObject({ status: wanted, body: { status: wanted, type: `/problems/${type}` } });
  expect(headers.get('content-type')).toMatch(/^application\/problem\+json\b/);
  const problem = body as ProblemBody & { title: string; instance: string };
  expect([typeof problem.title, typeof problem.instance]).toEqual(['string', 'string']);
  expect(JSON.stringify(problem)).not.toMatch(LEAKS);
  return problem;
}

/** Seconds of `Retry-After`; NaN: the header is absent. */
export const retryAfter = ({ headers }: Reply): number => Number(headers.get('retry-after') ?? NaN);

/** Pays at the service without a webhook. @param more fields of the sandbox's payment */
export const payInSilence = (shop: Shop, reference: string, more = {}): Promise<unknown> =>
  shop.sandboxPost(`/transactions/${reference}/pay`, { webhook: 'lost', ...more });

export const comeBack = (shop: Shop, reference: string): Promise<Reply> =>
  shop.request('GET', `/checkout/return/${reference}`);

/**
 * Pays at the service and returns the shopper, so that we verify it.
 * @param more fields of the sandbox's payment
 */
export async function settle(shop: Shop, reference: string, more = {}): Promise<void> {
  await payInSilence(shop, reference, more);
  await comeBack(shop, reference);
}

export const statusOf = async (shop: Shop, orderId: string): Promise<string> =>
  (await shop.request<{ status: string }>('GET', `/orders/${orderId}`)).body.status;

/** The number of calls to the service, for one payment if it is named. */
export async function timesAsked(shop: Shop, endpoint: 'initialize' | 'verify', reference?: string): Promise<number> {
  const about = reference === undefined ? '' : `&reference=${reference}`;
  return (await shop.sandboxGet<unknown[]>(`/calls?endpoint=${endpoint}${about}`)).length;
}

/**
 * Waits until no verification of a payment is in progress, and moves its schedule a day away, so
 * that only a notification causes a verification.
 */
export const unschedule = (shop: Shop, reference: string): Promise<unknown> => {
  const sql = `UPDATE payments SET next_check_at = next_check_at + interval '1 day'
    WHERE reference = $1 AND (leased_until IS NULL OR leased_until < now()) RETURNING reference`;
  return eventually(async () => (await shop.database.query(sql, [reference])).length === 1);
};
