import pg from 'pg';
import { ask } from './ask.ts';
import { pause, until } from './child.ts';
import type { DatabaseClock } from './database-clock.ts';
import type { Disk } from './disk.ts';

/** What may befall a PostgreSQL without its end. */
export type Troubles = {
  /**
   * No byte is left on its disk for so long.
   * @param stopsLog whether the write-ahead log needs room as well, without which PostgreSQL gives up
   * @throws when there is no such disk, or nothing was felt of it
   */
  fillDisk(url: string, ms: number, stopsLog: boolean): Promise<void>;
  /** Every commit reaches the disk a tenth of a second later, the most that PostgreSQL can be told to wait. */
  slowDisk(ms: number): Promise<void>;
  /** Nothing can be written, as on a standby that nobody has promoted yet; sessions end before and after. */
  readOnly(url: string, ms: number): Promise<void>;
  /** Its wall clock jumps back by so many seconds, and forth again. @throws when it cannot be moved, or has not moved */
  jumpBack(seconds: number, ms: number): Promise<void>;
  /** @returns what the time was when its clock told this one */
  rightTime(told: Date): Date;
  /** Every connection is in somebody else's hands. */
  takeConnections(ms: number): Promise<void>;
};

type Parts = {
  addressOf(database: string): string;
  restart(): Promise<void>;
  /** A text says why there is none of bounded size. */
  disk: Disk | string;
  /** A text says why it is the machine's. */
  clock: DatabaseClock | string;
};

const SLOW_COMMIT_MICROSECONDS = 100_000;
const COMES_BACK_MS = 60_000;
const FILLS_A_TABLE = `
  CREATE TEMPORARY TABLE filler AS SELECT n, repeat('x', 500) FROM generate_series(1, 100000) n`;

export function troublesOf({ addressOf, restart, disk, clock }: Parts): Troubles {
  const server = addressOf('postgres');
  const attempt = (work: () => Promise<unknown>): Promise<boolean> =>
    until(() => work().then(() => true), COMES_BACK_MS);
  return {
    fillDisk: async (url, ms, stopsLog) => {
      if (typeof disk === 'string') throw new Error(disk);
      disk.fill();
      try {
        const words = await wordsOf(ask(url, FILLS_A_TABLE));
        if (!/No space left|could not extend/.test(words))
          throw new Error(`a full disk was not felt: ${words}`);
        if (stopsLog) await wordsOf(ask(server, 'SELECT pg_switch_wal()'));
        await pause(ms);
      } finally {
        disk.free();
        // One that could not write its log may have given up, and needs somebody to start it.
        if (!(await until(() => ask(url, 'SELECT').then(() => true), 5_000))) await restart();
      }
    },
    slowDisk: async (ms) => {
      const set = async (microseconds: number): Promise<void> => {
        await ask(server, `ALTER SYSTEM SET commit_delay = ${microseconds}`);
        await ask(server, 'ALTER SYSTEM SET commit_siblings = 0');
        await ask(server, 'SELECT pg_reload_conf()');
      };
      try {
        await set(SLOW_COMMIT_MICROSECONDS);
        await pause(ms);
      } finally {
        await attempt(() => set(0));
      }
    },
    readOnly: async (url, ms) => {
      const name = new URL(url).pathname.slice(1);
      const set = async (isOn: boolean): Promise<void> => {
        await ask(server, `ALTER DATABASE ${name} SET default_transaction_read_only = ${String(isOn)}`);
        await ask(server, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [
          name,
        ]);
      };
      try {
        await set(true);
        await pause(ms);
      } finally {
        // A crash in between is no reason to leave it so.
        await attempt(() => set(false));
      }
    },
    jumpBack: async (seconds, ms) => {
      if (typeof clock === 'string') throw new Error(clock);
      clock.setBack(seconds);
      try {
        const [row] = await ask<{ now: Date }>(server, 'SELECT clock_timestamp() AS now');
        if (row === undefined || Date.now() - row.now.getTime() < (seconds * 1_000) / 2)
          throw new Error('the clock of the database has not moved');
        await pause(ms);
      } finally {
        clock.setBack(0);
      }
    },
    rightTime: (told) => (typeof clock === 'string' ? told : clock.rightTime(told)),
    takeConnections: async (ms) => {
      const taken: pg.Client[] = [];
      try {
        for (let isFull = false; !isFull;) {
          const client = new pg.Client({ connectionString: server });
          client.on('error', () => undefined);
          isFull = (await wordsOf(client.connect())) !== '';
          if (!isFull) taken.push(client);
        }
        await pause(ms);
      } finally {
        await Promise.all(taken.map((client) => wordsOf(client.end())));
      }
    },
  };
}

/** @returns what went wrong, empty when nothing did */
async function wordsOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => '',
    (error: unknown) => String(error),
  );
}
