import type { Dispatcher } from 'undici';
import { ClientError, codeOf } from '../errors.ts';

type Headers = Dispatcher.ResponseData['headers'];

export type Exchange = {
  /** Milliseconds from now to the body's last byte. */
  totalMs: number;
  /** Maximum bytes of the body. */
  maxBytes: number;
};

/**
 * Sends one request and reads its whole answer. undici's own `request` makes a stream of every body and
 * adds an abort signal to it, which is most of the work for some hundred bytes; here the chunks are
 * collected as they come.
 * @throws {ClientError} on an unacceptable or broken answer; without an answer, the dispatcher's error
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
      reject(status === 0 ? error : bodyAborted(error));
      call?.abort(error);
    };
    const timer = setTimeout(() => {
      fail(new DOMException('The exchange took too long.', 'TimeoutError'));
    }, totalMs);

    // An exception in one of these handlers ends the exchange with that error.
    dispatcher.dispatch(request, {
      onRequestStart: (started) => {
        call = started;
        // The time was up before a connection became free.
        if (failure !== undefined) started.abort(failure);
      },
      onResponseStart: (_call, answered, its) => {
        // Called more than once when there are interim answers: the last one counts.
        [status, headers] = [answered, its];
        assertUncompressed(headers);
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

/** @throws {ClientError} when the body is compressed: a few bytes could expand to any number */
export function assertUncompressed(headers: Headers): void {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new ClientError('the answer is compressed although that was ruled out', true);
}

/** @returns a counter of a body's chunks, which throws {@link ClientError} beyond `maxBytes` in total */
export function createCount(maxBytes: number): (chunk: Buffer) => void {
  let bytes = 0;
  return (chunk) => {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new ClientError(`the answer is larger than ${maxBytes} bytes`, true);
  };
}

/** An error after an answer's status: the request has arrived. */
export function bodyAborted(error: unknown): ClientError {
  if (error instanceof ClientError) return error;
  return new ClientError(`the answer broke off: ${codeOf(error)}`, true, error);
}
