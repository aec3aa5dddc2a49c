import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { findOrder, viewOf, type ViewedOrder } from './view.ts';
import { networkOf, siteOf } from '../platform/addresses.ts';
import { NETWORKS_OF_SITE } from '../platform/limits.ts';
import { Problem } from '../platform/problem.ts';
import type { PrismaClient } from '../platform/prisma/client.ts';

const LOOK_EVERY_MS = 1_000;
/** Each reader costs a socket and some kilobytes. */
const MAX_READERS = 2_000;
/**
 * The limits for one network and for one IPv6 site. No shopper needs more streams, and nobody can
 * take all of them.
 */
const MAX_OF_ADDRESS = 20;
const MAX_OF_SITE = NETWORKS_OF_SITE * MAX_OF_ADDRESS;
/**
 * After this many looks, the stream ends and the browser opens a new one, so that no connection
 * outlives its reader for long.
 */
const MAX_LOOKS = 600;
/** Proxies cut a silent stream after a minute. A comment after this many looks keeps it open. */
const COMMENT_EVERY = 15;

type Reader = { orderId: string; address: string; res: Response; sent: string; looks: number };

function hasPlace(readers: ReadonlySet<Reader>, address: string): boolean {
  const site = siteOf(address);
  const ofAddress = [...readers].filter((reader) => reader.address === address);
  const ofSite = [...readers].filter((reader) => site !== null && siteOf(reader.address) === site);
  return readers.size < MAX_READERS && ofAddress.length < MAX_OF_ADDRESS && ofSite.length < MAX_OF_SITE;
}

/** Sends the order if it changed, or from time to time a comment that keeps the connection open. */
function tell(reader: Reader, order: ViewedOrder): void {
  const data = JSON.stringify(viewOf(order));
  if (data !== reader.sent) reader.res.write(`event: order\ndata: ${data}\n\n`);
  else if (reader.looks % COMMENT_EVERY === 0) reader.res.write(': still here\n\n');
  reader.sent = data;
}

/**
 * Sends an order to its readers now and at each change (server-sent events). One query a second for
 * each order serves all its readers in this process. Without readers, there is no query.
 */
export function createStreams(
  prisma: PrismaClient,
  logger: Logger,
): { open(order: ViewedOrder, req: Request, res: Response): void } {
  const readers = new Set<Reader>();
  let timer: NodeJS.Timeout | undefined;

  const look = async (): Promise<void> => {
    for (const orderId of new Set([...readers].map((reader) => reader.orderId))) {
      const order = await findOrder(prisma, orderId);
      for (const reader of readers) {
        if (order === null || reader.orderId !== orderId || reader.res.writableEnded) continue;
        reader.looks += 1;
        tell(reader, order);
        if (reader.looks > MAX_LOOKS) reader.res.end();
      }
    }
  };

  const lookLater = (): void => {
    timer ??= setTimeout(() => {
      void look()
        .catch((error: unknown) => {
          logger.warn({ err: error }, 'orders could not be read for their streams');
        })
        .finally(() => {
          timer = undefined;
          if (readers.size > 0) lookLater();
        });
    }, LOOK_EVERY_MS).unref();
  };

  return {
    open: (order, req, res) => {
      const address = networkOf(req.ip);
      if (!hasPlace(readers, address)) throw new Problem('too-many-requests', { retryAfterSec: 30 });
      const reader: Reader = { orderId: order.id, address, res, sent: '', looks: 0 };
      readers.add(reader);
      res.once('close', () => readers.delete(reader));
      res.set({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' }).type('text/event-stream');
      tell(reader, order);
      lookLater();
    },
  };
}
