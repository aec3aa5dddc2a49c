import { expect } from '@jest/globals';
import type { Reply } from './shop.ts';

export type ProblemBody = {
  title: string;
  detail?: string;
  errors?: { path: string; message: string }[];
  orderId?: string;
};

/** What tells a stranger how the program is made, or whom it knows. */
const LEAKS = /prisma|postgres|select |node_modules|\.[jt]s\b|\\n +at |sk_test|@/i;

/**
 * Expects a refusal as RFC 9457 wants it, which leaks nothing.
 * @param type its name in /problems/…
 */
export function expectProblem({ status, headers, body }: Reply, wanted: number, type: string): ProblemBody {
  expect({ status, body }).toMatchObject({ status: wanted, body: { status: wanted, type: `/problems/${type}` } });
  expect(headers.get('content-type')).toMatch(/^application\/problem\+json\b/);
  const problem = body as ProblemBody & { instance: string };
  expect([typeof problem.title, typeof problem.instance]).toEqual(['string', 'string']);
  expect(JSON.stringify(problem)).not.toMatch(LEAKS);
  return problem;
}
