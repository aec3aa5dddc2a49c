import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { positionOf } from '../../src/ledger/position.ts';
import { figuresOf, ledgerOf } from '../../src/ledger/stored.ts';
import { openDatabase, type Database } from '../../src/platform/db.ts';
import { applyMigrations } from '../../src/platform/migrate.ts';
import { Secret } from '../../src/platform/secret.ts';
import { loadOld, type Old } from './support.ts';

// Single ledgers as version 1.0.0 left them: the answers of verify, and the columns of `money` that
// are not 0. Each order is one of 8500, and charge A pays it.

type Answer = [outcome: string, amount: number | null, shows: number | null, id?: string, currency?: string | null];
type Story = {
  what: string;
  answers: Answer[];
  money: Record<string, number | string | boolean>;
  /** A person accepted the order with this doubt, which the last answer has. */
  doubt?: string;
  held?: bigint;
  missing?: bigint;
  notShown?: bigint;
  recovered?: bigint;
};

const HEARD = '2026-10-20T12:00:00Z';
const PAID: Answer = ['paid', 8500, 8500];
const LOST: Answer = ['reversed', 8500, 0];
const STORIES: Story[] = [
  { what: 'paid', answers: [PAID], money: { came: 8500, earned: 8500 } },
  {
    what: 'paid in part and then expired',
    answers: [
      ['paid', 8000, 8000],
      ['expired', 8000, null],
    ],
    money: { came: 8000 },
    held: 8000n,
  },
  {
    what: 'reversed without an amount in the answer',
    answers: [PAID, ['reversed', null, 0, 'A', null]],
    money: { came: 8500, went: 8500, earned: 8500 },
    missing: 8500n,
  },
  {
    what: 'both sources show less without a refund',
    answers: [PAID, ['paid', 7000, 7000]],
    money: { came: 8500, went: 1500, earned: 8500, list_shows: 7000, list_heard_at: HEARD },
    missing: 1500n,
  },
  {
    what: 'a dispute lost and won',
    answers: [PAID, LOST, PAID],
    money: { came: 17000, went: 8500, earned: 8500, send_back: 8500, by_itself: 8500 },
  },
  {
    what: 'a dispute lost and won, and a second charge',
    answers: [PAID, LOST, PAID],
    money: {
      came: 25500,
      went: 8500,
      earned: 8500,
      send_back: 8500,
      by_itself: 8500,
      list_shows: 17000,
      list_heard_at: HEARD,
    },
    held: 8500n,
  },
  {
    what: 'written off and won',
    answers: [PAID, LOST, PAID],
    money: { came: 17000, went: 8500, earned: 8500, lost: 8500, list_shows: 8500, list_heard_at: HEARD },
    notShown: 8500n,
  },
  {
    what: 'written off, won and kept',
    answers: [PAID, LOST, PAID],
    money: { came: 17000, went: 8500, earned: 8500, lost: 8500, kept: 8500, list_shows: 8500, list_heard_at: HEARD },
    recovered: 8500n,
  },
  {
    what: 'a refund that was not made, and the money is kept',
    answers: [PAID],
    money: { came: 9000, went: 500, earned: 8500, refunded: 500, kept: 500, list_shows: 8500, list_heard_at: HEARD },
    recovered: 500n,
  },
  {
    what: 'a refund that no source shows',
    answers: [PAID],
    money: { came: 8500, earned: 8500, refunded: 2500, list_shows: 8500, list_heard_at: HEARD },
    notShown: 2500n,
  },
  {
    what: 'charged twice, and one charge refunded',
    answers: [PAID, ['paid', 8500, 8500, 'B'], ['reversed', 8500, 0, 'B'], PAID],
    money: {
      came: 17000,
      went: 8500,
      earned: 8500,
      send_back: 8500,
      list_shows: 8500,
      list_gone: 8500,
      list_heard_at: HEARD,
    },
  },
  {
    what: 'accepted in spite of a doubt that both sources have',
    answers: [PAID],
    doubt: 'disputed is true',
    money: { came: 8500, earned: 8500, list_shows: 8500, list_doubted: true, list_heard_at: HEARD },
  },
];

type Cell = string | number | boolean | null;
const text = (value: Cell): string => (value === null ? 'NULL' : `'${String(value)}'`);

/**
 * Verify's own figure in `money`: the newest one once the history is applied, else the stored
 * figure.
 */
function shownIn(answers: readonly Answer[], { came, went = 0, list_heard_at }: Story['money']): Cell {
  const isThere = Number(came) - Number(went);
  return list_heard_at === undefined ? isThere : (answers.at(-1)?.[2] ?? isThere);
}

/** The last answer has the doubt. @param firstId of the answers */
function answersOf(
  reference: string,
  answers: readonly Answer[],
  doubt: string | undefined,
  firstId: number,
): string[] {
  return answers.map(([outcome, amount, shows, id = 'A', currency = 'NGN'], place) => {
    const said = place === answers.length - 1 ? (doubt ?? null) : null;
    const cells = [firstId + place, reference, outcome, amount, shows, currency, id, said].map(text);
    return `INSERT INTO verifications (id, reference, outcome, amount, shows, currency, service_id, doubt, http_status,
      digest, cause, asked_at, at) VALUES (${cells.join()}, 200, '', 'hint', '2026-10-01', '2026-10-01');`;
  });
}

/** Inserts the rows of a story, without checking keys. */
function rowsOf({ answers, money, doubt }: Story, index: number): string {
  const reference = `story${index}`;
  const isPaid = 'earned' in money;
  const said = answersOf(reference, answers, doubt, 100 * index);
  const accepted = doubt === undefined ? "'paid', 8500, NULL" : "NULL, NULL, 'ada'";
  const order = `INSERT INTO orders (id, mode, email, amount, currency, status, released_reference, paid_at)
      VALUES ('${reference}', 'test', 'ada@example.com', 8500, 'NGN', ${isPaid ? `'paid', '${reference}', '2026-10-01'` : `'failed', NULL, NULL`});
    INSERT INTO payments (reference, mode, order_id, amount, currency, status)
      VALUES ('${reference}', 'test', '${reference}', 8500, 'NGN', '${isPaid ? 'paid' : 'failed'}');`;
  const release = `INSERT INTO releases (order_id, mode, reference, verification_id, price, currency, amount, shown, shown_amount,
      accepted_by, at) VALUES ('${reference}', 'test', '${reference}', ${100 * index}, 8500, 'NGN', 8500, ${accepted}, '2026-10-01');`;
  const last: Record<string, Cell> = { verify_shows: shownIn(answers, money), ...money };
  const ledger = `INSERT INTO money (reference, currency, ${Object.keys(last).join()})
    VALUES ('${reference}', 'NGN', ${Object.values(last).map(text).join()});`;
  return [order, ...said, isPaid ? release : '', ledger].join('\n');
}

let old: Old;
let database: Database;
beforeAll(async () => {
  const rows = STORIES.map(rowsOf).join('\n');
  old = await loadOld(`SET session_replication_role = replica; ${rows} SET session_replication_role = DEFAULT`);
  await applyMigrations(old.url);
  database = openDatabase(new Secret(old.url));
});
afterAll(async () => {
  await database.close();
  await old.drop();
});

test.each(STORIES.map((story, index) => [story.what, story, index] as const))('%s', async (_, story, index) => {
  const row = await database.prisma.ledger.findFirstOrThrow({ where: { reference: `story${index}` } });
  const ledger = ledgerOf(row);
  const { held, missing, notShown } = figuresOf(ledger);
  const { held: wanted = 0n, missing: gone = 0n, notShown: still = 0n, recovered = 0n } = story;
  expect({ held, missing, notShown, recovered: ledger.books.recovered }).toEqual({
    ...{ held: wanted, missing: gone, notShown: still, recovered },
  });
  const total = await old.query(
    `SELECT coalesce(sum(amount) FILTER (WHERE counter = 'held'), 0)::bigint::text AS held,
      coalesce(sum(amount) FILTER (WHERE counter = 'missing'), 0)::bigint::text AS missing
     FROM journal WHERE reference = $1`,
    [row.reference],
  );
  expect(total).toEqual([{ held: String(held), missing: String(missing) }]);
  // Recovered money is reported at once.
  if (story.what === 'written off and won') expect(positionOf(ledger, 0).reinstated).toBe(8500n);
});
