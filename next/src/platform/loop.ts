import type { Logger } from 'pino';

/**
 * Repeats one pass of work: again at once while there is more, else after a pause, or as soon as it is woken. A pass
 * that throws is logged, and the pauses grow.
 */
export type Loop = {
  /** Something is due now. */
  wake(): void;
  /** Waits for the pass that runs, and starts no other. */
  stop(): Promise<void>;
};

const LONGEST_PAUSE_MS = 30_000;

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
        await pause(Math.min(pauseMs * 2 ** failures, LONGEST_PAUSE_MS));
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
