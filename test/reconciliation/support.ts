import { expect } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import type { Report } from '../../src/reconciliation/report.ts';
import { tell } from '../money/support.ts';
import { befall } from '../support/failures.ts';
import { startShop, type Shop, type ShopOptions } from '../support/shop.ts';
import type { Ran } from '../support/terminal.ts';

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const SHOP_TOKEN = 'a_token_of_a_shop_for_tests';

export type Desk = Shop & {
  /** A command that Ada runs. @returns its exit code and its output */
  run(...words: string[]): Promise<Ran>;
  reconcile(...words: string[]): Promise<{ exit: number | string; report: Report }>;
};

/** A shop whose service shows payments in the history at once, and a terminal beside it. */
export async function startDesk({ env, ...options }: ShopOptions = {}): Promise<Desk> {
  const ours = { GATEWAY_ADAPTER: fileOf('../support/adapters/prompt.ts'), SHOP_API_TOKEN: SHOP_TOKEN, ...env };
  const shop = await startShop({ ...options, env: ours });
  const run = (...words: string[]): Promise<Ran> => shop.command(words, { USER: 'ada', ...ours });
  return {
    ...shop,
    run,
    reconcile: async (...words) => {
      const { exit, out, err } = await run('reconcile', '--json', ...words);
      if (out === '') throw new Error(`reconcile ended with ${exit}: ${err}`);
      return { exit, report: JSON.parse(out) as Report };
    },
  };
}

/** A call of the shop's own system. */
export const asShop = (desk: Desk, path: string, json: object) =>
  desk.request('POST', path, { headers: { authorization: `Bearer ${SHOP_TOKEN}` }, json });

const FIGURES = `captured retained returned refunded off_provider written_off recovered`.split(' ');
const LARGER = ['received', 'outflow'].map((one) => `'${one} ' || nullif(greatest(verify_${one}, history_${one}), 0)`);

/**
 * The state of a payment: its order; whether `order.paid` `goes` or is `held` (null: none); open
 * cases as class, held, missing, currency; its ledgers without zeros, with the larger figure of the
 * two sources. In minor units.
 */
export async function look(desk: Desk, reference: string) {
  const text = `SELECT o.status::text AS "order",
      (SELECT CASE WHEN held_by IS NULL THEN 'goes' ELSE 'held' END FROM messages
        WHERE order_id = o.id AND type = 'order.paid') AS message,
      ARRAY(SELECT concat_ws(' ', class, held, missing, currency) FROM cases
        WHERE reference = p.reference AND closed_at IS NULL ORDER BY id) AS cases,
      ARRAY(SELECT concat_ws(' ', currency,
          ${[...LARGER, ...FIGURES.map((one) => `'${one} ' || nullif(${one}, 0)`)].join(', ')})
        FROM ledgers WHERE reference = p.reference AND greatest(verify_most_received, history_most_received) > 0
        ORDER BY currency) AS money
    FROM payments p LEFT JOIN orders o ON o.id = order_id WHERE p.reference = $1`;
  type Look = { order: string | null; message: string | null; cases: string[]; money: string[] };
  const [row] = await desk.database.query<Look>(text, [reference]);
  return row;
}

/** The only open case of a payment. */
export async function caseOf(desk: Desk, reference: string): Promise<string> {
  const open = 'SELECT id FROM cases WHERE reference = $1 AND closed_at IS NULL';
  const rows = await desk.database.query<{ id: string }>(open, [reference]);
  if (rows.length !== 1) throw new Error(`${reference} has ${rows.length} open cases`);
  return rows[0]?.id ?? '';
}

/** Ada decides the open case of a payment. @param words after `--as` */
export async function decide(desk: Desk, reference: string, ...words: string[]): Promise<Ran> {
  return desk.run('cases', 'decide', await caseOf(desk, reference), '--note', 'a test', '--as', ...words);
}

/**
 * Moves all rows of a payment and its order into the past, including rows that are written once.
 */
export async function letPass(desk: Desk, reference: string, time: string): Promise<void> {
  const ours = `reference = '${reference}'`;
  const order = `order_id = (SELECT order_id FROM payments WHERE ${ours})`;
  await desk.database.query(`BEGIN; SET LOCAL session_replication_role = replica;
    UPDATE refunds SET at = at - interval '${time}' WHERE ${order};
    UPDATE proofs SET at = at - interval '${time}' WHERE ${order};
    UPDATE verifications SET at = at - interval '${time}', asked_at = asked_at - interval '${time}' WHERE ${ours};
    UPDATE cases SET opened_at = opened_at - interval '${time}', closed_at = closed_at - interval '${time}' WHERE ${ours};
    UPDATE ledgers SET history_read_at = history_read_at - interval '${time}',
      history_reached_at = history_reached_at - interval '${time}', booked_in_at = booked_in_at - interval '${time}',
      booked_out_at = booked_out_at - interval '${time}' WHERE ${ours};
    UPDATE orders SET paid_at = paid_at - interval '${time}'
      WHERE id = (SELECT order_id FROM payments WHERE ${ours});
    UPDATE payments SET created_at = created_at - interval '${time}', opened_at = opened_at - interval '${time}',
      answered_at = answered_at - interval '${time}', unreadable_since = unreadable_since - interval '${time}'
      WHERE ${ours};
    COMMIT`);
}

type Row = Record<string, unknown>;

/**
 * A test sets the answers of both sources. Rows are changes to one charge, paid with NGN 8500.00.
 */
export function scripted(desk: () => Desk) {
  const faults = new Map<string, number>();
  const lists = new Map<string, Row[]>();
  const rowOf = (reference: string, more: Row): Row => {
    return { id: `A-${reference}`, reference, status: 'SUCCESS', amount: 8500, currency: 'NGN', ...more };
  };

  /** Sets the answer of verify until the next call. */
  const verifySays = async (reference: string, more: Row = {}): Promise<void> => {
    await desk().request('DELETE', `${desk().sandbox?.url}/sandbox/faults/${faults.get(reference) ?? 0}`);
    const body = { status: true, data: rowOf(reference, more) };
    faults.set(reference, (await befall(desk(), 'verify', 'body', { reference, body, times: 0 })).id);
    await tell(desk(), reference);
  };

  const hear = async (reference: string, data: Row[], words: string[]): Promise<Awaited<ReturnType<typeof look>>> => {
    await letPass(desk(), reference, '2 minutes');
    await befall(desk(), 'history', 'body', { body: { status: true, data: { data, hasNextPage: false } } });
    expect(await desk().reconcile(...words)).toMatchObject({ report: { complete: true } });
    return look(desk(), reference);
  };

  /**
   * Applies the whole history, with the earlier rows of other payments.
   * @returns the state of the payment
   */
  const listShows = (reference: string, ...rows: Row[]) => {
    const all = rows.map((more) => rowOf(reference, more));
    return hear(reference, [...lists.set(reference, all).values()].flat(), []);
  };

  /** Applies a history of the last hour, with these rows only. */
  const windowShows = (reference: string, ...rows: Row[]) => {
    const since = new Date(Date.now() - 3_600_000).toISOString();
    return hear(
      reference,
      rows.map((more) => rowOf(reference, more)),
      ['--since', since],
    );
  };

  const buy = async () => {
    const checkout = await desk().checkout();
    await verifySays(checkout.reference);
    expect(await look(desk(), checkout.reference)).toMatchObject({ order: 'paid' });
    return checkout;
  };
  return { verifySays, listShows, windowShows, buy };
}
