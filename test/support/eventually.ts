import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Looks every 50 ms until the check no longer throws and returns neither `false` nor `null`; a
 * check made of expectations returns nothing.
 * @param withinMs only ends a test that hangs: a busy machine is slow
 * @returns what the check returned
 * @throws what the check threw last, or that nothing came
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
