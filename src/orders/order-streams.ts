import type { Request, Response } from 'express';
import { sleep } from '../platform/clock.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { OrderId } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import { Problem } from '../platform/problem.ts';
import { viewOf } from './order-view.ts';
import type { Order } from './order.ts';
import { findOrder, findOrderStates, type OrderState } from './orders.sql.ts';

/**
 * Sends an order's changes to its readers (server-sent events). This process queries once a second for
 * all readers together, however many there are; without readers it does not query at all.
 */
type OrderStreams = {
  /**
   * Sends the order now and whenever its status changes or money went back, until the reader leaves or ten
   * minutes are over.
   * @param address of the client, as limits count it
   * @throws {Problem} 429 when there are too many readers: clients then ask now and again, as they can anyway
   */
  open(order: Order, address: string, req: Request, res: Response): void;
};

const LOOK_EVERY_MS = 1_000;
/** Each costs a socket and some kilobytes. One process sells to far fewer shoppers in ten minutes. */
const MAX_READERS = 2_000;
/** No shopper watches one order from more places than this; a program that does is stopped here. */
const MAX_READERS_OF_ONE = 20;
/** Then the stream ends and the browser opens a new one: no connection outlives its reader for long. */
const MAX_LOOKS = 600;
/** Proxies cut a silent stream after a minute; a comment after this many looks keeps it open. */
const COMMENT_EVERY_LOOKS = 15;
const TRY_AGAIN_SEC = 30;

type Reader = { orderId: OrderId; address: string; res: Response; sent: OrderState; looks: number };

// Not the whole order: it may be large, and there are many readers.
const stateOf = ({ status, refunded }: Order): OrderState => ({ status, refunded });

type Parts = {
  db: Queryable;
  /** Readers from one client address: only a whole office needs many, and none may take every place. */
  maxOfAddress: number;
  logger: Logger;
};

export function createOrderStreams({ db, maxOfAddress, logger }: Parts): OrderStreams {
  const readers = new Set<Reader>();
  let isLooking = false;

  function tell(reader: Reader, order: Order): void {
    reader.res.write(`event: order\ndata: ${JSON.stringify(viewOf(order))}\n\n`);
    reader.sent = stateOf(order);
  }

  async function look(): Promise<void> {
    const states = await findOrderStates(db, [...new Set([...readers].map(({ orderId }) => orderId))]);
    for (const reader of readers) {
      const { status, refunded } = states.get(reader.orderId) ?? reader.sent;
      const hasChanged = status !== reader.sent.status || refunded !== reader.sent.refunded;
      const order = hasChanged ? await findOrder(db, reader.orderId) : null;
      // A reader that left during the query cannot be written to.
      if (reader.res.writableEnded) continue;
      if (order !== null) tell(reader, order);
      else if (reader.looks % COMMENT_EVERY_LOOKS === 0) reader.res.write(': still here\n\n');
      reader.looks += 1;
      if (reader.looks > MAX_LOOKS) reader.res.end();
    }
  }

  async function lookWhileSomebodyReads(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    for (;;) {
      await sleep(LOOK_EVERY_MS);
      // When this process ends, its readers have been sent away; the database may be gone by now.
      if (readers.size === 0) break;
      await look().catch((error: unknown) => {
        logger.warn({ err: error }, 'order stream poll failed');
      });
    }
    isLooking = false;
  }

  return {
    open: (order, address, req, res) => {
      const ofThisOne = [...readers].filter(({ orderId }) => orderId === order.id).length;
      const ofAddress = [...readers].filter((reader) => reader.address === address).length;
      if (readers.size >= MAX_READERS || ofThisOne >= MAX_READERS_OF_ONE || ofAddress >= maxOfAddress)
        throw new Problem('too-many-requests', { retryAfterSec: TRY_AGAIN_SEC });
      const reader: Reader = { orderId: order.id, address, res, sent: stateOf(order), looks: 1 };
      readers.add(reader);
      req.once('close', () => readers.delete(reader));
      res.set({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' }).type('text/event-stream');
      tell(reader, order);
      void lookWhileSomebodyReads();
    },
  };
}
