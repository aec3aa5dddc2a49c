import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import {
  asksForEncryption,
  FLUSH,
  framesOf,
  isPartOfBatch,
  statementIn,
  SYNC,
  type Frame,
} from './postgres-frames.ts';
import { createStops, type Held, type Stops } from './stops.ts';

export type PostgresProxy = {
  /** Address of the same database, through the proxy. */
  url: string;
  /** What befalls the next such statement. See {@link Stops} for the points. */
  once: Stops['once'];
  close(): Promise<void>;
};

/**
 * Stands between a process and PostgreSQL and knows which statement passes. Until a test asks for something
 * it hands everything on as it is. Point `uncommitted` keeps back the Sync, so it is for statements with
 * parameters or a name; a plain `BEGIN` or `COMMIT` has no such point.
 */
export async function startPostgresProxy(target: string): Promise<PostgresProxy> {
  const stops = createStops();
  const lines = new Set<Line>();
  const { hostname, port } = new URL(target);
  const proxy = createServer((client) => {
    const line = openLine(client, connect(Number(port), hostname.replace(/^\[|\]$/g, '')), stops);
    lines.add(line);
    void line.ended.then(() => lines.delete(line));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    url: url.href,
    once: stops.once,
    close: async () => {
      for (const line of lines) line.end();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

/** One connection of a client and the one behind it. */
type Line = { end(): void; ended: Promise<unknown> };

/**
 * A statement that has gone on and whose answer has not ended. `told`: what is looked through for what it is
 * about.
 */
type Exchange = { statement: string; told: Buffer; isUncommitted: boolean };

function openLine(client: Socket, server: Socket, stops: Stops): Line {
  let isSilent = false;
  const exchanges: Exchange[] = [];
  /** What the open transaction has asked: a COMMIT by itself is about nothing. */
  let transaction: Buffer[] | null = null;
  const end = (): void => {
    client.destroy();
    server.destroy();
  };
  const held: Held = {
    cut: () => {
      isSilent = true;
      client.resetAndDestroy();
      server.destroy();
    },
    silence: () => {
      isSilent = true;
    },
  };
  const toClient = (bytes: Buffer): Promise<void> => write(isSilent ? null : client, bytes);
  const toServer = (bytes: Buffer): Promise<void> => write(isSilent ? null : server, bytes);

  async function passQuestions(): Promise<void> {
    let batch: Frame[] = [];
    for await (const frame of framesOf(client, 'client')) {
      if (asksForEncryption(frame)) {
        await toClient(Buffer.from('N'));
        continue;
      }
      batch.push(frame);
      if (isPartOfBatch(frame)) continue;
      await passBatch(batch);
      batch = [];
    }
  }

  async function passBatch(batch: readonly Frame[]): Promise<void> {
    const asked = Buffer.concat(batch.map(({ bytes }) => bytes));
    const statement = statementIn(batch);
    if (statement === null) return toServer(asked);
    if (statement === 'BEGIN') transaction = [];
    transaction?.push(asked);
    const isEnd = statement === 'COMMIT' || statement === 'ROLLBACK';
    const told = isEnd && transaction !== null ? Buffer.concat(transaction) : asked;
    if (isEnd) transaction = null;
    await stops.hold('asked', statement, told, held);
    const isBatch = batch.at(-1)?.type === 'S';
    const isUncommitted = isBatch && stops.awaits('uncommitted', statement);
    exchanges.push({ statement, told, isUncommitted });
    await toServer(isUncommitted ? Buffer.concat([asked.subarray(0, -SYNC.length), FLUSH]) : asked);
  }

  async function passAnswers(): Promise<void> {
    let answer: Buffer[] = [];
    for await (const { type, bytes } of framesOf(server, 'server')) {
      const exchange = exchanges[0];
      if (exchange === undefined) {
        await toClient(bytes);
        continue;
      }
      const { statement, told } = exchange;
      answer.push(bytes);
      // CommandComplete: it has run. After an error there is nothing to hold, and the server waits for the
      // Sync.
      if (exchange.isUncommitted && (type === 'C' || type === 'E')) {
        if (type === 'C') await stops.hold('uncommitted', statement, told, held);
        exchange.isUncommitted = false;
        await toServer(SYNC);
      }
      // ReadyForQuery comes after the commit, CommandComplete before it.
      const isWhole = type === 'Z';
      if (isWhole) {
        exchanges.shift();
        await stops.hold('answered', statement, Buffer.concat([told, ...answer]), held);
      }
      if (!isWhole && stops.awaits('answered', statement)) continue;
      const all = Buffer.concat(answer);
      answer = [];
      await toClient(all);
      if (isWhole) await stops.hold('heard', statement, Buffer.concat([told, all]), held);
    }
  }

  for (const socket of [client, server]) socket.on('error', end);
  const ended = Promise.allSettled([passQuestions().finally(end), passAnswers().finally(end)]);
  return { end, ended };
}

/**
 * Resolves when the bytes are in the system's hands. Those for nobody, or for somebody who has gone, are
 * dropped.
 */
function write(to: Socket | null, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (to === null || to.destroyed) resolve();
    else
      to.write(bytes, () => {
        resolve();
      });
  });
}
