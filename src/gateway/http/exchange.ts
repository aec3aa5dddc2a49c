import type { Dispatcher } from 'undici';
import { ClientError, codeOf } from './client-error.ts';

type Headers = Dispatcher.ResponseData['headers'];

export type Exchange = {
  /** Milliseconds from now to the body's last byte. */
  totalMs: number;
  /** Bytes of body to read at most. */
  maxBytes: number;
};

/**
 * Sends one request and reads its answer whole. The library's own way makes a stream of every body and has an abort signal
 * watch it, which for some hundred bytes is most of the work; here the chunks are kept as they come.
 * @throws {ClientError} when the answer is not acceptable or breaks off; without an answer, what the dispatcher says
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { totalMs, maxBytes }: Exchange,
): Promise<{ status: number; headers: Headers; received: Buffer }> {
  return new Promise((resolve, reject) => {
    let call: Dispatcher.DispatchController | undefined;
    let failure: Error | undefined;
    let status = 0;
    let headers: Headers = {};
    const chunks: Buffer[] = [];
    const count = createCount(maxBytes);

    const fail = (error: Error): void => {
      failure ??= error;
      clearTimeout(timer);
      reject(status === 0 ? error : brokenOff(error));
      call?.abort(error);
    };
    const timer = setTimeout(() => {
      fail(new DOMException('The exchange took too long.', 'TimeoutError'));
    }, totalMs);

    // What is thrown in here ends the exchange as an error of its own.
    dispatcher.dispatch(request, {
      onRequestStart: (started) => {
        call = started;
        // It has waited for a connection until its time was up.
        if (failure !== undefined) started.abort(failure);
      },
      onResponseStart: (_call, answered, its) => {
        // More than once when there are interim answers: the last one counts.
        [status, headers] = [answered, its];
        refuseCompressed(headers);
      },
      onResponseData: (_call, chunk) => {
        count(chunk);
        chunks.push(chunk);
      },
      onResponseEnd: () => {
        clearTimeout(timer);
        resolve({ status, headers, received: Buffer.concat(chunks) });
      },
      onResponseError: (_call, error) => {
        fail(error);
      },
    });
  });
}

/** @throws {ClientError} when the body must be unpacked: a few bytes could become any number */
export function refuseCompressed(headers: Headers): void {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new ClientError('the answer is compressed although that was ruled out', true);
}

/** @returns what counts the chunks of a body, and throws {@link ClientError} when they are more than `maxBytes` together */
export function createCount(maxBytes: number): (chunk: Buffer) => void {
  let bytes = 0;
  return (chunk) => {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new ClientError(`the answer is larger than ${maxBytes} bytes`, true);
  };
}

/** An error behind an answer's status: the request has arrived. */
export function brokenOff(error: unknown): ClientError {
  if (error instanceof ClientError) return error;
  return new ClientError(`the answer broke off: ${codeOf(error)}`, true, error);
}
