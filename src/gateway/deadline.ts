export type Deadline = {
  /** Aborts when the time is up, or with the caller's own signal. */
  signal: AbortSignal;
  /** To be called when the exchange is over, whichever way. */
  end(): void;
};

/**
 * The time for a whole exchange, in milliseconds from now. Not `AbortSignal.timeout`: what hangs on that signal, question
 * and answer included, outlives the exchange until the next collection of all memory, and is copied around till then. At
 * a thousand calls a second that was a quarter of everything allocated.
 * @param caller gives up sooner
 */
export function startDeadline(totalMs: number, caller?: AbortSignal): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  }, totalMs).unref();
  const giveUp = (): void => {
    controller.abort(caller?.reason);
  };
  if (caller?.aborted === true) giveUp();
  caller?.addEventListener('abort', giveUp, { once: true });
  return {
    signal: controller.signal,
    end: () => {
      clearTimeout(timer);
      caller?.removeEventListener('abort', giveUp);
    },
  };
}
