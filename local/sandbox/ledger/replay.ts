import type { FileHandle } from 'node:fs/promises';

import { ledgerEventSchema, type LedgerEvent } from './events.ts';

const NEWLINE = 0x0a;

/**
 * Reads the log from its first byte in constant memory.
 *
 * A process killed in the middle of a write leaves a last line without its end; nobody was told of it, so
 * it may go. A line that is broken anywhere else means that the file was damaged, and guessing would
 * falsify the ground truth.
 * @throws {Error} for a broken line that is not the last
 */
export async function replay(
  handle: FileHandle,
  onEvent: (event: LedgerEvent) => void,
): Promise<{ goodBytes: number; tornBytes: number }> {
  let rest = Buffer.alloc(0);
  let goodBytes = 0;
  let tornBytes = 0;
  let lineNumber = 0;

  for await (const chunk of handle.createReadStream({ start: 0, autoClose: false })) {
    const bytes = Buffer.concat([rest, chunk as Buffer]);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      if (tornBytes > 0) throw new Error(`line ${lineNumber} of the sandbox ledger is damaged`);
      lineNumber += 1;
      const event = parseLine(bytes.toString('utf8', start, end));
      const length = end + 1 - start;
      if (event === null) tornBytes = length;
      else {
        onEvent(event);
        goodBytes += length;
      }
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  if (tornBytes > 0 && rest.length > 0)
    throw new Error(`line ${lineNumber} of the sandbox ledger is damaged`);
  return { goodBytes, tornBytes: tornBytes + rest.length };
}

function parseLine(line: string): LedgerEvent | null {
  try {
    return ledgerEventSchema.parse(JSON.parse(line));
  } catch {
    return null;
  }
}
