import type { Logger } from 'pino';

/**
 * Repeats one pass of work: again at once while there is more, else after a pause, or as soon as it
 * is woken. A pass that throws is logged, and the pauses grow.
 */
export type Loop = {
  /** Something is due now. */
  wake(): void;
  /** Waits for the pass that runs, and starts no other. */
  stop(): Promise<void>;
};

/** After failures: of a loop that looks often, and of one that looks rarely. */
const LONGEST_PAUSE_MS = 5_000;
const LONGEST_RARE_PAUSE_MS = 600_000;
const FIRST_PAUSE_MS = 500;

/**
 * @param pass does what is due, and says whether more is
 * @param pauseMs between two passes that find nothing, milliseconds
 */
export function startLoop(name: string, pass: () => Promise<boolean>, pauseMs: number, logger: Logger): Loop {
  let isStopped = false;
  let isWoken = false;
  let end: () => void = () => undefined;

  const pause = async (ms: number): Promise<void> => {
    if (isStopped || isWoken) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  };

  const run = async (): Promise<void> => {
    let failures = 0;
    while (!isStopped) {
      isWoken = false;
      try {
        const more = await pass();
        failures = 0;
        if (!more) await pause(pauseMs);
      } catch (error) {
        failures += 1;
        logger.error({ err: error, loop: name, failures }, 'a pass failed');
        isWoken = false;
        const longest = pauseMs > LONGEST_PAUSE_MS ? Math.min(pauseMs, LONGEST_RARE_PAUSE_MS) : LONGEST_PAUSE_MS;
        await pause(Math.min(Math.min(pauseMs, FIRST_PAUSE_MS) * 2 ** failures, longest));
      }
    }
  };

  const running = run();
  return {
    wake: () => {
      isWoken = true;
      end();
    },
    stop: async () => {
      isStopped = true;
      end();
      await running;
    },
  };
}

type Crew<Job> = {
  name: string;
  atOnce: number;
  /** Takes what is due, at most so many. */
  claim(limit: number): Promise<Job[]>;
  /** One that throws is logged, and its claim ends by itself. */
  work(job: Job): Promise<unknown>;
  pauseMs: number;
  logger: Logger;
};

/** Repeats claiming and working, for ever. A slow job keeps no other one waiting. */
export function startCrew<Job>({ name, atOnce, claim, work, pauseMs, logger }: Crew<Job>): Loop {
  const running = new Set<Promise<unknown>>();
  const begin = (job: Job): void => {
    const done: Promise<unknown> = work(job)
      .catch((error: unknown) => {
        logger.error({ err: error, loop: name }, 'a job failed; its claim ends by itself');
      })
      .finally(() => {
        running.delete(done);
        loop.wake();
      });
    running.add(done);
  };
  const pass = async (): Promise<boolean> => {
    const room = atOnce - running.size;
    // Several at a time: a claim for each job that ends would be half of the work.
    const jobs = room * 4 < atOnce ? [] : await claim(room);
    jobs.forEach(begin);
    return jobs.length > 0 && running.size < atOnce;
  };
  const loop = startLoop(name, pass, pauseMs, logger);
  return {
    wake: loop.wake,
    stop: async () => {
      await loop.stop();
      await Promise.allSettled(running);
    },
  };
}
