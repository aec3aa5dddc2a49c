import type { Delivery } from '../../test/support/invariants.ts';
import type { Hands } from './hands.ts';
import { place, type Told } from './life.ts';
import type { Restorable } from './restorable.ts';
import { freePort, startServer, type Stage } from './stage.ts';

/** Does the work, and writes down the seconds it took. */
export type Timed = <T>(name: string, work: () => Promise<T>) => Promise<T>;

export type Wreck = {
  stage: Stage;
  postgres: Pick<Restorable, 'query'>;
  hands: Hands;
  env: Record<string, string>;
  token: string;
  orders: readonly Told[];
  deliveries: readonly Delivery[];
  /** The moment of the backup. */
  from: Date;
  /** References about whose money a person decided after it. */
  forgotten: readonly string[];
  timed: Timed;
};

export type Recovered = {
  said: string;
  repaired: number;
  decidedAgain: string[];
  placedAgain: Told[];
  adopted: string[];
};

/** "After a restore" of docs/operations.md, step by step: the database is restored, and nobody serves shoppers yet. */
export async function recover(wreck: Wreck): Promise<Recovered> {
  const { stage, postgres, hands, env, token, orders, deliveries, from, forgotten, timed } = wreck;
  const said = await timed('after-restore', () => hands.type('after-restore'));
  const { repaired } = await timed('reconcile', hands.reconcile);
  const decidedAgain = await timed('decide again', () => hands.decide('refund', forgotten));

  const rows = await postgres.query<{ id: string }>('SELECT id FROM orders');
  const known = new Set(rows.map(({ id }) => id));
  const lost = orders.filter(({ orderIds: [id] }) => id !== undefined && !known.has(id));
  const isShipped = ({ orderIds }: Told): boolean =>
    deliveries.some(({ orderId }) => orderIds.includes(orderId));
  // Without a number a further order would ship again what was shipped; what was not paid its shopper buys anew.
  const unnumbered = lost.filter(({ story }) => story === 'no number');
  for (const order of unnumbered.filter(isShipped)) order.isKept = true;
  const kept = unnumbered.flatMap(({ isKept, reference }) => (isKept && reference ? [reference] : []));
  const placedAgain = lost.filter(({ story, isTaken, isKept }) =>
    story === 'no number' ? isTaken && !isKept : true,
  );
  await timed('keep what was shipped without a number', () => hands.decide('keep', kept));
  await timed('place again', async () => {
    const port = await freePort();
    const behind = await startServer(stage, env, port);
    for (const order of placedAgain) await place(`http://127.0.0.1:${port}`, token, order);
    await stage.end(behind);
  });

  const adopted: string[] = [];
  await timed('adopt', async () => {
    for (const { reference } of await hands.list('after-restore', '--since', from.toISOString())) {
      // The shopper's mail and the receiver's log tell whose it is. An underpayment pays no order.
      const owner = orders.find((order) => order.reference === reference);
      if (owner === undefined || owner.story === 'underpays' || owner.isKept) continue;
      await hands.adopt(reference, owner.story === 'no number' ? owner.orderIds.at(-1) : owner.name);
      adopted.push(reference);
    }
  });
  return { said, repaired, decidedAgain, placedAgain, adopted };
}
