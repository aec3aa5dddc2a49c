import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs a check every 50 ms until it neither throws nor returns `false` or `null`. A check made of
 * expectations returns nothing.
 * @param withinMs only ends a test that hangs: a busy machine is slow
 * @returns the result of the check
 * @throws the last error of the check, or that nothing came
 */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 20_000): Promise<Exclude<T, false | null>> {
  const end = performance.now() + withinMs;
  for (;;) {
    let failure: unknown = new Error(`nothing came within ${withinMs} ms`);
    try {
      const seen = await check();
      if (seen !== false && seen !== null) return seen as Exclude<T, false | null>;
    } catch (error) {
      failure = error;
    }
    if (performance.now() > end) throw failure;
    await sleep(50);
  }
}
