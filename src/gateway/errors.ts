/**
 * Nothing was learnt of the payment: not asked, or no usable answer came. It never means unpaid.
 */
export class Unanswered extends Error {
  /** Seconds; where the service or our own limits say when to ask again. */
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
 * 401, or 403 for everything: the service refuses the key. Nothing can be learnt until it is
 * replaced.
 */
export class KeyRefused extends Unanswered {
  constructor(status: number) {
    // It did not act for a key that it does not know.
    super(`the service refuses the secret key (HTTP ${status}): check GATEWAY_SECRET_KEY`, {
      sent: false,
      retryAfterSec: 60,
    });
    this.name = 'KeyRefused';
  }
}

/** An error's code or name. Its message may quote what was sent, our key included. */
export function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return [code, name].find((text) => typeof text === 'string') ?? 'unknown';
}

/**
 * Characters of a thrown text that are looked at: far more than are kept, so that no part of a
 * secret is cut apart.
 */
const TEXT_LENGTH = 100_000;

/** The text of a thrown value. A value that String() cannot convert gets a fixed text. */
export function textOf(thrown: unknown): string {
  try {
    return String(thrown).slice(0, TEXT_LENGTH);
  } catch {
    return 'something that has no text';
  }
}

/**
 * One answer makes us wait no longer than this, whatever it asks for: it may come from a firewall,
 * and not from the system behind it. Pauses that grow with each failure do the rest.
 */
const LONGEST_SEC = 30;

type Headers = Record<string, string | string[] | undefined>;

/**
 * Seconds that another system asks us to wait. A date counts from the answer's own Date, since
 * clocks differ; null for none, and for what is neither a number nor a date.
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
