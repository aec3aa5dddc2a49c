import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { NODE_KINDS, PLAIN_KINDS, planOf, POINT_KINDS, type Plan } from '../../../tools/chaos/plan.ts';
import { startChaosPostgres, type ChaosPostgres } from '../../../tools/chaos/postgres.ts';
import { runPlan } from '../../../tools/chaos/run.ts';
import { createTally } from '../../../tools/chaos/tally.ts';
import { takePreviousTree } from '../../../tools/chaos/tree.ts';

// Plans of `npm run chaos` that found something once, each cut to the beat that shows it. They are kept as plans, because
// a seed makes another one as soon as there are more kinds of faults.

const PLANS = new URL('plans/', import.meta.url);
/** Made only for a plan that fails. */
const KEPT_IN = join(tmpdir(), 'integrator-chaos-kept');
const FOUND: Record<string, string> = {
  'seed-108.json': 'a key that was refused, and a migration beside it',
  'seed-4.json': 'a crash of PostgreSQL while confirmations are recorded',
  'seed-7.json': 'a server killed before a webhook is committed, and a database that falls silent',
  'seed-101.json': 'a key that was refused, and an order that then counted as failed',
  'seed-103.json': 'a connection that broke as it was handed out, and ended the process',
  'seed-104.json': 'a key that was refused, an order that counted as failed, and a table that is locked',
};

let postgres: ChaosPostgres;
beforeAll(async () => {
  postgres = await startChaosPostgres({ disk: 'tests mount nothing', clock: 'tests load no library' });
}, 120_000);
afterAll(() => postgres.stop());

test('every kept plan is played', () => {
  expect(readdirSync(PLANS).sort()).toEqual(Object.keys(FOUND).sort());
});

test.each(Object.entries(FOUND))(
  '%s, %s: every promise is kept',
  async (name) => {
    const plan = JSON.parse(readFileSync(new URL(name, PLANS), 'utf8')) as Plan;
    const stage = { postgres, previous: takePreviousTree, tally: createTally(), keepIn: KEPT_IN };
    expect((await runPlan(stage, plan)).violations).toEqual([]);
  },
  // The longest plan takes a minute on a quiet machine, and three beside a whole run of tests.
  600_000,
);

test('a seed makes the same plan every time, with half of the faults, and all seeds together have all of them', () => {
  expect(planOf(7, 3)).toEqual(planOf(7, 3));
  expect(planOf(7, 3)).not.toEqual(planOf(8, 3));
  const kinds = Array.from({ length: 20 }, (_none, seed) => planOf(seed, 3).kinds);
  const all = new Set(kinds.flat());
  for (const kind of [...POINT_KINDS, ...NODE_KINDS, ...PLAIN_KINDS]) expect(all).toContain(kind);
  for (const some of kinds) expect(some.length).toBe(Math.ceil(all.size / 2));
});

test('who upgrades begins with the version before', () => {
  const plans = Array.from({ length: 40 }, (_none, seed) => planOf(seed, 3));
  const upgrades = ({ beats }: Plan): boolean =>
    beats.some(({ faults }) => faults.some(({ kind }) => kind === 'upgrade'));
  expect(plans.filter(upgrades).length).toBeGreaterThan(3);
  for (const plan of plans) expect(plan.startsFrom).toBe(upgrades(plan) ? 'previous' : undefined);
});
