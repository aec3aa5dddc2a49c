import { until } from './child.ts';
import { visit } from './shoppers.ts';
import { THIS_TREE } from './tree.ts';
import { command, upgrade } from './versions.ts';
import type { Tally } from './tally.ts';
import { START_MS, type World } from './world.ts';

/** A minute lets every lease, lock and pause between hints pass; an hour, most of the schedule. */
const MINUTE = 61;
const HOUR = 3_600;
const PAST_THE_HORIZON = 9 * 86_400;
const MAX_ROUNDS = 40;
/** Longer than a breaker that opened in the storm stays open. */
const SELLS_AGAIN_MS = 60_000;

/** How the healing went: how often everything was made due, and what was still undone when patience ended. */
export type Healed = { rounds: number; complaints: string[] };

/** Every fault is over. Time passes until nothing is left to be done, and nothing but time. */
export async function heal(world: World, tally: Tally): Promise<Healed> {
  const complaints: string[] = [];
  let rounds = 0;
  world.service.process.signal('SIGCONT');
  await countCards(world, tally);
  await world.hand('faults/clear', {});
  await world.hand('outage', { status: null });
  await world.hand('keys/refuse', { refuse: false });
  const nodes = Object.values(world.nodes);
  // What a fault kept from its end is ended now.
  if (nodes.some((node) => node.tree() !== THIS_TREE))
    await upgrade(world).catch((error: unknown) => complaints.push(`not upgraded: ${String(error)}`));
  if (!(await until(() => Promise.resolve(nodes.every((node) => node.isReady())), START_MS)))
    complaints.push(
      `not running after ${START_MS / 1_000} s: ${nodes
        .filter((node) => !node.isReady())
        .map(({ name }) => name)
        .join()}`,
    );
  complaints.push(...(await sell(world)));
  const [clock] = await world.query<{ now: Date }>('SELECT now()');

  /** @returns what is left when it is never over */
  async function passUntilNone(sql: string, steps: readonly number[], ...values: unknown[]): Promise<void> {
    let left: object[] = [];
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const step = steps[Math.min(round, steps.length - 1)] ?? MINUTE;
      await until(() => world.letTimePass(step).then(() => true), 20_000);
      rounds += 1;
      await until(async () => (await world.query(DUE)).length === 0, 20_000);
      left = await world.query(sql, ...values);
      if (left.length === 0) return;
    }
    complaints.push(`I17: after ${MAX_ROUNDS} rounds still: ${JSON.stringify(left)}`);
  }

  await passUntilNone(UNANSWERED, [MINUTE, MINUTE, HOUR], clock?.now);
  // What is still owed to us waits from here on: a hint in the middle of the check would look like work left undone.
  await world.hand('webhooks', { url: null });
  complaints.push(...(await reconcile(world)));
  await passUntilNone(WATCHED, [PAST_THE_HORIZON, MINUTE, HOUR, 24 * HOUR]);
  return { rounds, complaints };
}

/** Whatever befell it, a shop that is well sells. */
async function sell(world: World): Promise<string[]> {
  const shopper = { story: 'pays and returns', sku: 'bissap', quantity: 1 } as const;
  const sold = await until(async () => (await visit(world, shopper, 'healed')) !== null, SELLS_AGAIN_MS);
  return sold ? [] : [`no shopper could buy for ${SELLS_AGAIN_MS / 1_000} s after the faults were over`];
}

/** A card was played when fewer of its calls are left than it had. */
async function countCards(world: World, tally: Tally): Promise<void> {
  const { set } = (await world.hand('faults')) as { set: { id: string; calls: number | null }[] };
  for (const [id, { card, calls }] of tally.cards) {
    const left = set.find((fault) => fault.id === id);
    if (left?.calls !== calls) tally.fire(`deck:${card}`);
    else tally.missed(`deck:${card}`, 'nothing came by');
  }
  tally.cards.clear();
}

/** A run that reads all of history: afterwards the books close. */
async function reconcile(world: World): Promise<string[]> {
  let words = '';
  for (let tries = 0; tries < 3; tries += 1) {
    const { code, said } = await command(world, 'reconcile', '--json');
    words = said;
    if (code !== 0 && code !== 1) continue;
    const differences = [...said.matchAll(/"difference": ?"([^"]+)"/g)].map(([, text]) => Number(text));
    return differences.every((difference) => difference === 0)
      ? []
      : [`I20: the books do not close: ${said}`];
  }
  return [`reconciliation was not completed in three runs: ${words.slice(-2_000)}`];
}

/** What somebody works on, or should. */
const DUE = `
  SELECT reference FROM payments WHERE next_check_at <= now()
  UNION ALL SELECT id FROM releases WHERE next_check_at <= now()`;

/** Payments that have had no answer since the faults were over, hints that nobody has followed, releases that nobody has. */
const UNANSWERED = `
  SELECT reference, status FROM payments p WHERE next_check_at IS NOT NULL AND status <> 'created'
    AND NOT (coalesce(p.last_answer_at > $1, false) AND 'unreadable' <> (SELECT v.outcome FROM verifications v
      WHERE v.reference = p.reference ORDER BY v.id DESC LIMIT 1))
  UNION ALL SELECT reference, 'hinted' FROM payments WHERE hints > hints_answered AND next_check_at IS NOT NULL
  UNION ALL SELECT id, delivery FROM releases WHERE delivery = 'waiting'`;

const WATCHED = `
  SELECT reference, status FROM payments
  WHERE status IN ('created', 'sending', 'open', 'ambiguous') OR next_check_at IS NOT NULL`;
