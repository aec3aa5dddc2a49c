import type { Socket } from 'node:net';

/**
 * One message of PostgreSQL's protocol 3: a letter, a length, a body. The first ones of a client have no
 * letter; here theirs is empty.
 */
export type Frame = { type: string; bytes: Buffer; body: Buffer };

const SSL_REQUEST = 80_877_103;
const GSS_REQUEST = 80_877_104;

/** Asks for the commit of what was executed, and for the end of the answer. */
export const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);
/** Asks for the answer so far, and commits nothing. */
export const FLUSH = Buffer.from([0x48, 0, 0, 0, 4]);

/** Messages as they become whole; the loop that reads them gives the socket its pace. */
export async function* framesOf(socket: Socket, from: 'client' | 'server'): AsyncGenerator<Frame> {
  let rest: Buffer = Buffer.alloc(0);
  let isStarting = from === 'client';
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const letter = isStarting ? 0 : 1;
      if (rest.length < letter + 4) break;
      const end = letter + rest.readUInt32BE(letter);
      if (rest.length < end) break;
      const bytes = rest.subarray(0, end);
      rest = rest.subarray(end);
      const body = bytes.subarray(letter + 4);
      // After these two the client waits for one letter and then begins anew.
      if (isStarting) isStarting = [SSL_REQUEST, GSS_REQUEST].includes(body.readUInt32BE(0));
      yield { type: letter === 0 ? '' : String.fromCharCode(bytes[0] ?? 0), bytes, body };
    }
  }
}

/** Whether a first message asks for encryption, which a proxy that reads along declines. */
export function asksForEncryption({ type, body }: Frame): boolean {
  return type === '' && [SSL_REQUEST, GSS_REQUEST].includes(body.readUInt32BE(0));
}

/** Parse, Bind, Describe, Execute and Close belong to the Sync that ends them. */
export function isPartOfBatch({ type }: Frame): boolean {
  return type !== '' && 'PBDEC'.includes(type);
}

/**
 * What the messages up to a Sync or a simple query ask for: the statement's name, or its SQL where it has
 * none. Null when they run nothing.
 */
export function statementIn(frames: readonly Frame[]): string | null {
  let unnamed = '';
  for (const { type, body } of frames) {
    if (type === 'Q') return textAt(body, 0).trim();
    const first = textAt(body, 0);
    const second = textAt(body, Buffer.byteLength(first) + 1);
    if (type === 'P' && first === '') unnamed = second.trim();
    // A portal's name, and the name of the statement that fills it.
    if (type === 'B') return second === '' ? unnamed : second;
  }
  return null;
}

function textAt(body: Buffer, start: number): string {
  const end = body.indexOf(0, start);
  return body.toString('utf8', start, end === -1 ? body.length : end);
}
