import { checkIntegrity } from '../reporting/integrity.ts';
import { systemClock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';

const TELL_EVERY_MS = 3_000;

/**
 * Prints each row that was changed by other means, and at the end a summary; with `json` one object per line.
 * @returns the exit code: 0 when all is whole, 1 when something was found
 */
export async function explainAll(database: Database, json: boolean): Promise<number> {
  let toldMs = systemClock.elapsedMs();
  const seen = await checkIntegrity(database, {
    onFound: (one) => print(json ? JSON.stringify(one) : `order ${one.orderId}: ${one.what}`),
    onProgress: (orders) => {
      if (systemClock.elapsedMs() - toldMs < TELL_EVERY_MS) return;
      toldMs = systemClock.elapsedMs();
      process.stderr.write(`${orders} orders checked\n`);
    },
  });
  const verdict =
    seen.contradictions === 0
      ? 'Every journal is whole, and no row contradicts one.'
      : `${seen.contradictions} rows were changed by other means.`;
  await print(json ? JSON.stringify(seen) : `${seen.orders} orders checked. ${verdict}`);
  return seen.contradictions === 0 ? 0 : 1;
}

function print(line: string): Promise<void> {
  // The line may contain text of the shop: its control characters must not reach the terminal.
  const text = `${line.replace(/\p{C}/gu, '?')}\n`;
  return new Promise((resolve) =>
    process.stdout.write(text, () => {
      resolve();
    }),
  );
}
