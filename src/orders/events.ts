import type { Request, Response } from 'express';
import { sleep } from '../platform/clock.ts';
import type { Queryable } from '../platform/database.ts';
import type { Logger } from '../platform/logger.ts';
import { findOrder, findOrderStatus } from './repository.ts';
import type { OrderStatus } from './order.ts';
import { viewOf } from './order-view.ts';

const LOOK_EVERY_MS = 1_000;
/** Then the stream ends and the browser opens a new one: no connection outlives its reader for long. */
const MAX_STREAM_LOOKS = 600;
/** Proxies cut a silent stream after a minute; a comment every so many looks keeps it open. */
const COMMENT_EVERY_LOOKS = 15;

/** Sends the order now and whenever its status changes (server-sent events), until the reader leaves. */
export async function streamOrder(
  db: Queryable,
  orderId: string,
  req: Request,
  res: Response,
  logger: Logger,
): Promise<void> {
  const gone = new AbortController();
  req.once('close', () => {
    gone.abort();
  });
  res.set({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' }).type('text/event-stream');
  let sent: OrderStatus | null = null;
  for (let look = 0; look < MAX_STREAM_LOOKS && !gone.signal.aborted; look += 1) {
    const status: OrderStatus | null = await findOrderStatus(db, orderId).catch((error: unknown) => {
      logger.warn({ err: error, orderId }, 'an order stream could not look');
      return sent;
    });
    if (status !== null && status !== sent) {
      const order = await findOrder(db, orderId);
      if (order !== null) res.write(`event: order\ndata: ${JSON.stringify(viewOf(order))}\n\n`);
      sent = status;
    } else if (look % COMMENT_EVERY_LOOKS === 0) {
      res.write(': still here\n\n');
    }
    await sleep(LOOK_EVERY_MS, gone.signal);
  }
  res.end();
}
