import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { heal } from './heal.ts';
import type { Plan } from './plan.ts';
import type { ChaosPostgres } from './postgres.ts';
import { storm } from './storm.ts';
import type { Tally } from './tally.ts';
import { THIS_TREE, type Tree } from './tree.ts';
import { violationsOf } from './verdict.ts';
import { createWorld } from './world.ts';

/** What a run came to. */
export type Outcome = {
  violations: string[];
  orders: number;
  paid: number;
  verified: number;
  /** Where everything about it was kept; null when nothing was violated. */
  kept: string | null;
};

/** What a run takes place on. */
export type Stage = {
  postgres: ChaosPostgres;
  /** Asked for by plans that begin with the version before. @throws with words that say why there is none */
  previous(): Tree;
  tally: Tally;
  /** A folder for what a failed run leaves behind. */
  keepIn: string;
};

/** Storm, heal, quiet, verdict. */
export async function runPlan(stage: Stage, plan: Plan): Promise<Outcome> {
  const { postgres, tally, keepIn } = stage;
  const world = await createWorld(postgres, plan, firstTree(plan, stage));
  try {
    await storm(world, plan, tally);
    const { rounds, complaints } = await heal(world, tally);
    const violations = [...complaints, ...(await violationsOf(world, rounds))];
    const [counts] = await world.query<Pick<Outcome, 'orders' | 'paid' | 'verified'>>(COUNTS);
    const { orders = 0, paid = 0, verified = 0 } = counts ?? {};
    const kept = violations.length === 0 ? null : join(keepIn, `seed-${plan.seed}`);
    if (kept !== null) {
      mkdirSync(kept, { recursive: true });
      const keep = (name: string, text: string): void => {
        writeFileSync(join(kept, name), text);
      };
      keep('plan.json', JSON.stringify(plan, null, 2));
      keep('violations.txt', violations.join('\n'));
      for (const node of Object.values(world.nodes)) keep(`${node.name}.log`, node.said());
      keep('stand-in.log', world.service.process.said());
      keep(
        'ledger.json',
        JSON.stringify([await world.hand('transactions'), await world.hand('calls')], null, 1),
      );
      keep('exchanges.json', JSON.stringify(world.front.exchanges, null, 1));
      for (const table of TABLES)
        keep(
          `${table}.json`,
          JSON.stringify(await world.query(`SELECT to_jsonb(t) AS row FROM ${table} t`), null, 1),
        );
    }
    return { violations, orders, paid, verified, kept };
  } finally {
    await world.close();
  }
}

function firstTree({ startsFrom }: Plan, { previous, tally }: Stage): Tree {
  if (startsFrom === undefined) return THIS_TREE;
  try {
    return previous();
  } catch (error) {
    tally.missed('upgrade', `there is no version before this one: ${String(error)}`);
    return THIS_TREE;
  }
}

const TABLES = [
  'orders',
  'payments',
  'journal',
  'verifications',
  'releases',
  'suspense_items',
  'webhooks',
  'idempotency_keys',
];

const COUNTS = `
  SELECT (SELECT count(*)::int FROM orders) AS orders, (SELECT count(*)::int FROM orders WHERE status = 'paid') AS paid,
    (SELECT count(*)::int FROM verifications) AS verified`;
