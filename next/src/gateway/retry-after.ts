/** However long another system asks us to wait. */
const LONGEST_SEC = 3_600;

type Headers = Record<string, string | string[] | undefined>;

/**
 * Seconds that another system asks us to wait. A date counts from the answer's own Date, since clocks differ; null for
 * none, and for what is neither a number nor a date.
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
