import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ServerResponse } from 'node:http';

import { MODES, type Mode } from '../keys.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { toEntry } from './entry.ts';

const BATCH = 500;

type Source = { ledger: Ledger; checkoutUrl: (token: string) => string };

/**
 * Streams `{transactions: [...]}`, newest first per mode. Whole, because a ground truth that is cut at
 * some limit proves nothing; streamed, because a load test leaves a million lines.
 * @param wanted `test` or `live`; anything else means both
 */
export async function sendLedger(source: Source, wanted: unknown, res: ServerResponse): Promise<void> {
  const modes = MODES.filter((mode) => mode === wanted);
  res.setHeader('content-type', 'application/json');
  await pipeline(Readable.from(ledgerText(source, modes.length > 0 ? modes : MODES)), res);
}

function* ledgerText({ ledger, checkoutUrl }: Source, modes: readonly Mode[]): Generator<string> {
  let before = '{"transactions":[';
  for (const mode of modes) {
    // Counted from the oldest end, so that what is added meanwhile moves no row.
    for (let left = ledger.count(mode); left > 0; left -= BATCH) {
      const rows = ledger.page(mode, ledger.count(mode) - left, Math.min(BATCH, left));
      for (const row of rows) {
        yield before + JSON.stringify(toEntry(row, checkoutUrl));
        before = ',';
      }
    }
  }
  yield before === ',' ? ']}' : '{"transactions":[]}';
}
