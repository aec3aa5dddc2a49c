/** The service gave no usable answer about the payment, or was not asked. It never means unpaid. */
export class Unanswered extends Error {
  /** Seconds until the next try, if the service or our own limits set them. */
  readonly retryAfterSec: number | null;
  /** Whether the service may have acted on the request. */
  readonly sent: boolean;

  constructor(
    message: string,
    { sent, retryAfterSec = null, cause }: { sent: boolean; retryAfterSec?: number | null; cause?: unknown },
  ) {
    super(message, { cause });
    this.name = 'Unanswered';
    this.sent = sent;
    this.retryAfterSec = retryAfterSec;
  }
}

/**
 * The service refuses the key: 401, or 403 for every request. Nothing can be verified until the key
 * is replaced.
 */
export class KeyRefused extends Unanswered {
  constructor(status: number) {
    // The service did not act, because it does not know the key.
    super(`the service refuses the secret key (HTTP ${status}): check GATEWAY_SECRET_KEY`, {
      sent: false,
      retryAfterSec: 60,
    });
    this.name = 'KeyRefused';
  }
}

/** An error's code or name. Its message may quote the request, including our key. */
export function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return [code, name].find((text) => typeof text === 'string') ?? 'unknown';
}

/**
 * The number of characters of a thrown text that are processed. It is far more than is kept, so
 * that no part of a secret is cut in two.
 */
const TEXT_LENGTH = 100_000;

/** The text of a thrown value. A value that String() cannot convert gets a fixed text. */
export function textOf(thrown: unknown): string {
  try {
    return String(thrown).slice(0, TEXT_LENGTH);
  } catch {
    return 'a value that cannot be converted to text';
  }
}

/**
 * One answer delays us at most this long, whatever it asks for, because it may come from a firewall
 * in front of the service. Pauses that grow with each failure do the rest.
 */
const LONGEST_SEC = 30;

type Headers = Record<string, string | string[] | undefined>;

/**
 * Seconds that another system asks us to wait. A date is compared with the answer's own Date
 * header, because clocks differ. Null if the header is missing, or is neither a number nor a date.
 */
export function retryAfterSec(headers: Headers): number | null {
  const given = headers['retry-after'];
  if (typeof given !== 'string') return null;
  if (/^\d{1,9}$/.test(given)) return Math.min(Number(given), LONGEST_SEC);
  const [until, now] = [Date.parse(given), Date.parse(String(headers.date))];
  return Number.isNaN(until) || Number.isNaN(now)
    ? null
    : Math.min(Math.max(0, Math.ceil((until - now) / 1_000)), LONGEST_SEC);
}
