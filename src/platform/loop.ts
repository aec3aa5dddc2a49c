import type { Logger } from 'pino';

/**
 * Repeats a pass of work. The next pass starts at once if more work is due, otherwise after a pause
 * or when the loop is woken. If a pass throws, the error is logged and the pauses grow.
 */
export type Loop = {
  /** Starts the next pass now. */
  wake(): void;
  /** Waits for the running pass, and starts no other. */
  stop(): Promise<void>;
};

/** The longest pause after failures, for a frequent loop and for a rare one. */
const LONGEST_PAUSE_MS = 5_000;
const LONGEST_RARE_PAUSE_MS = 600_000;
const FIRST_PAUSE_MS = 500;

/** The pause after failures in a row, in milliseconds. It doubles each time. */
function pauseAfter(failures: number, pauseMs: number): number {
  const longest = pauseMs > LONGEST_PAUSE_MS ? Math.min(pauseMs, LONGEST_RARE_PAUSE_MS) : LONGEST_PAUSE_MS;
  return Math.min(Math.min(pauseMs, FIRST_PAUSE_MS) * 2 ** failures, longest);
}

/** A pause that can end early. */
function createSleeper() {
  let wake: () => void = () => undefined;
  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  return {
    sleep,
    wake: (): void => {
      wake();
    },
  };
}

/**
 * @param pass does the work that is due, and returns whether more is due
 * @param pauseMs milliseconds between two passes that find nothing
 */
export function startLoop(name: string, pass: () => Promise<boolean>, pauseMs: number, logger: Logger): Loop {
  const sleeper = createSleeper();
  let isStopped = false;
  let isWoken = false;
  const pause = async (ms: number): Promise<void> => {
    if (!isStopped && !isWoken) await sleeper.sleep(ms);
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
        await pause(pauseAfter(failures, pauseMs));
      }
    }
  };

  const running = run();
  return {
    wake: () => {
      isWoken = true;
      sleeper.wake();
    },
    stop: async () => {
      isStopped = true;
      sleeper.wake();
      await running;
    },
  };
}

type Crew<Job> = {
  name: string;
  atOnce: number;
  /** Claims due jobs, at most `limit` of them. */
  claim(limit: number): Promise<Job[]>;
  /** If it throws, the error is logged, and the claim expires by itself. */
  work(job: Job): Promise<unknown>;
  pauseMs: number;
  logger: Logger;
};

/** Claims jobs and works on them, forever. A slow job does not delay the others. */
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
    // Claims several jobs at a time, because a claim per finished job would be half of the work.
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
