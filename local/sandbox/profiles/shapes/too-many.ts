import type { Answer } from '../../api/answer.ts';

/** How a service says "too many calls". */
export const RATE_FORMS = [
  'retry-after-seconds',
  'retry-after-date',
  'reset-epoch',
  'reset-seconds',
  'nothing',
  'lock-out-message',
] as const;

export type RateForm = (typeof RATE_FORMS)[number];

/** A lock-out is announced in words only, in minutes. */
export const LOCK_OUT_MS = 30 * 60_000;

/**
 * @param refused how the service refuses anything
 * @param waitSec seconds until it will answer again
 */
export function tooManyCalls(
  form: RateForm,
  refused: (status: number, message: string) => Answer,
  waitSec: number,
  now: Date,
): Answer {
  const until = new Date(now.getTime() + waitSec * 1_000);
  const headers: Record<RateForm, Record<string, string>> = {
    'retry-after-seconds': { 'retry-after': String(waitSec) },
    'retry-after-date': { 'retry-after': until.toUTCString() },
    'reset-epoch': { 'x-ratelimit-reset': String(Math.ceil(until.getTime() / 1_000)) },
    'reset-seconds': { 'ratelimit-reset': String(waitSec) },
    nothing: {},
    'lock-out-message': {},
  };
  const message =
    form === 'lock-out-message'
      ? `too many calls: access is blocked for ${Math.max(Math.ceil(waitSec / 60), 1)} minutes`
      : 'too many calls';
  const answer = refused(429, message);
  return { ...answer, headers: { ...answer.headers, ...headers[form] } };
}
