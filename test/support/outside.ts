import { expect } from '@jest/globals';
import { eventually } from './eventually.ts';
import type { Reply, Shop } from './shop.ts';

// What tests of the outward contract have in common.

export type ProblemBody = { detail?: string; errors?: { path: string; message: string }[]; orderId?: string };

/** What tells a stranger how the program is made, or whom it knows. */
const LEAKS = /prisma|postgres|select |node_modules|\.[jt]s\b|\\n +at |sk_test|@/i;

/**
 * Expects a refusal as RFC 9457 wants it, which leaks nothing.
 * @param type its name in /problems/…
 */
export function expectProblem({ status, headers, body }: Reply, wanted: number, type: string): ProblemBody {
  expect({ status, body }).toMatchObject({ status: wanted, body: { status: wanted, type: `/problems/${type}` } });
  expect(headers.get('content-type')).toMatch(/^application\/problem\+json\b/);
  const problem = body as ProblemBody & { title: string; instance: string };
  expect([typeof problem.title, typeof problem.instance]).toEqual(['string', 'string']);
  expect(JSON.stringify(problem)).not.toMatch(LEAKS);
  return problem;
}

/** Seconds of `Retry-After`; NaN: there is none. */
export const retryAfter = ({ headers }: Reply): number => Number(headers.get('retry-after') ?? NaN);

/** The shopper has paid, and the service has not told us. @param more as the sandbox takes it */
export const payInSilence = (shop: Shop, reference: string, more = {}): Promise<unknown> =>
  shop.sandboxPost(`/transactions/${reference}/pay`, { webhook: 'lost', ...more });

export const comeBack = (shop: Shop, reference: string): Promise<Reply> =>
  shop.request('GET', `/checkout/return/${reference}`);

/** The shopper has paid and is back, so verify was asked. @param more as the sandbox takes it */
export async function settle(shop: Shop, reference: string, more = {}): Promise<void> {
  await payInSilence(shop, reference, more);
  await comeBack(shop, reference);
}

export const statusOf = async (shop: Shop, orderId: string): Promise<string> =>
  (await shop.request<{ status: string }>('GET', `/orders/${orderId}`)).body.status;

/** How often the service was asked, about one payment where it is named. */
export async function timesAsked(shop: Shop, endpoint: 'initialize' | 'verify', reference?: string): Promise<number> {
  const about = reference === undefined ? '' : `&reference=${reference}`;
  return (await shop.sandboxGet<unknown[]>(`/calls?endpoint=${endpoint}${about}`)).length;
}

/**
 * Lets nobody ask about a payment but who is told to: the schedule is a day away, and no question
 * is under way.
 */
export const unschedule = (shop: Shop, reference: string): Promise<unknown> => {
  const sql = `UPDATE payments SET next_check_at = next_check_at + interval '1 day'
    WHERE reference = $1 AND (leased_until IS NULL OR leased_until < now()) RETURNING reference`;
  return eventually(async () => (await shop.database.query(sql, [reference])).length === 1);
};
