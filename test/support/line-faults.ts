import { gzipSync } from 'node:zlib';
import type { Fault } from './line.ts';

/** What can befall a call on the {@link Line}. Without {@link applied} the sandbox never hears of it. */

/** The sandbox carries the call out; its answer is lost, and this happens in its place. */
export function applied(fault: Fault): Fault {
  return async (call) => {
    await call.pass();
    await fault(call);
  };
}

/** Takes the call and says nothing, for ever. */
export const silence: Fault = () => undefined;

export const hangUp: Fault = ({ socket }) => {
  socket.destroy();
};

/** A TCP reset in place of an end. */
export const reset: Fault = ({ socket }) => {
  socket.resetAndDestroy();
};

export function answers(
  status: number,
  body: string | Buffer | object = '',
  headers: Record<string, string | string[]> = {},
): Fault {
  return (call) => {
    const isText = typeof body === 'string' || Buffer.isBuffer(body);
    call.answer({ status, headers, body: isText ? body : JSON.stringify(body) });
  };
}

/** The sandbox's own answer, with its text changed. */
export function rewritten(
  change: (text: string) => string | Buffer,
  headers: Record<string, string> = {},
): Fault {
  return async (call) => {
    const answer = await call.pass();
    call.answer({ ...answer, headers: { ...answer.headers, ...headers }, body: change(String(answer.body)) });
  };
}

type Fields = Record<string, unknown>;

/**
 * The sandbox's own answer, with the record inside it changed. A field that becomes undefined is left out.
 */
export function withRecord(change: Fields | ((record: Fields) => unknown)): Fault {
  return rewritten((text) => {
    const { data, ...envelope } = JSON.parse(text) as { data: Fields };
    const record = typeof change === 'function' ? change(data) : { ...data, ...change };
    return JSON.stringify({ ...envelope, data: record });
  });
}

/** The sandbox's own answer, with the amount written so: any text, JSON or not. */
export function withAmount(written: string): Fault {
  return rewritten((text) => text.replace(/"amount":[^,}]+/, `"amount":${written}`));
}

/** Bytes that are no HTTP server's; then the connection ends. */
export function bytes(text: string): Fault {
  return ({ socket }) => {
    socket.end(text);
  };
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

/** Promises more than it sends. */
export const cutShort = bytes(`${HEAD}content-length: 400\r\n\r\n{"status":true,"data":`);
/** A chunk that ends in its middle. */
export const cutChunk = bytes(`${HEAD}transfer-encoding: chunked\r\n\r\n40\r\n{"status":true`);
/** Whole JSON, and more bytes than were announced. */
export const tooManyBytes = bytes(`${HEAD}content-length: 4\r\n\r\n{"data":"https://pay.example.com/1"}`);
export const twoLengths = bytes(`${HEAD}content-length: 2\r\ncontent-length: 11\r\n\r\n{"data":""}`);
export const noHttp = bytes('+OK POP3 ready\r\n');
export const lineFeedsOnly = bytes('HTTP/1.1 200 OK\ncontent-length: 2\n\n{}');

/** Headers at once, then one byte now and then, for ever. */
export const drip: Fault = ({ socket }) => {
  socket.write(`${HEAD}content-length: 10000\r\n\r\n`);
  const timer = setInterval(() => socket.write(' '), 200);
  socket.once('close', () => {
    clearInterval(timer);
  });
};

/** A header line that never ends. */
export const endlessHeaders: Fault = ({ socket }) => {
  socket.write('HTTP/1.1 200 OK\r\nx-');
  const timer = setInterval(() => socket.write('a'), 200);
  socket.once('close', () => {
    clearInterval(timer);
  });
};

/**
 * A body that goes on until the other side has had enough. @param sent is told the bytes that left, when it
 * is over
 */
export function flood(sent: (bytes: number) => void = () => undefined): Fault {
  return ({ socket }) => {
    socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
    const chunk = Buffer.from(`4000\r\n${' '.repeat(0x4000)}\r\n`);
    const pour = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', pour).once('close', () => {
      sent(socket.bytesWritten);
    });
    pour();
  };
}

/** Two hundred mebibytes in two hundred kilobytes. */
export const bomb = answers(200, gzipSync(Buffer.alloc(20 << 20, ' ')), { 'content-encoding': 'gzip' });

/** The sandbox's own answer, compressed although that was ruled out. */
export const compressed: Fault = async (call) => {
  const { body } = await call.pass();
  call.answer({ headers: { 'content-encoding': 'gzip' }, body: gzipSync(body) });
};
