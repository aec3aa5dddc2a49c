/** One moment as services write it. All take ISO 8601 in UTC, as the ledger has it. */

/** Like the ledger, an hour ahead of UTC and saying so. */
export function isoWithOffset(iso: string): string {
  return `${anHourLater(iso).slice(0, 19)}+01:00`;
}

/** The same clock, not saying so: whoever reads it is an hour off. */
export function isoWithoutZone(iso: string): string {
  return anHourLater(iso).slice(0, 19);
}

/** 31/12/2026 11:59:59 PM */
export function dayFirst(iso: string): string {
  const [year, month, day] = iso.slice(0, 10).split('-');
  const hours = Number(iso.slice(11, 13));
  const half = hours < 12 ? 'AM' : 'PM';
  const hour = String(hours % 12 === 0 ? 12 : hours % 12).padStart(2, '0');
  return `${day ?? ''}/${month ?? ''}/${year ?? ''} ${hour}${iso.slice(13, 19)} ${half}`;
}

/** Seconds since 1970; 0 for what has not happened. */
export function unixSeconds(iso: string | null): number {
  return iso === null ? 0 : Math.floor(Date.parse(iso) / 1_000);
}

/** Milliseconds since 1970. */
export function unixMilliseconds(iso: string): number {
  return Date.parse(iso);
}

function anHourLater(iso: string): string {
  return new Date(Date.parse(iso) + 3_600_000).toISOString();
}
