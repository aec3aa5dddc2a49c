/** From `since` to before `until`; null: without that end. Days and months begin at midnight UTC. */
export type Period = { since: Date | null; until: Date | null };

export const EVERYTHING: Period = { since: null, until: null };

/** The period of a month like `2026-11`; null for what is no month. */
export function monthOf(text: string): Period | null {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined || month === undefined) return null;
  const first = (after: number): Date => new Date(Date.UTC(Number(year), Number(month) - 1 + after, 1));
  return { since: first(0), until: first(1) };
}

/** The month before the one of a moment, like `2026-10`. */
export function monthBefore(now: Date): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 7);
}

/** Both ends as PostgreSQL reads them: it writes years before 1 and after 9999 in another way than we do. */
export function boundsOf({ since, until }: Period): [since: string, until: string] {
  return [since === null ? '-infinity' : textOf(since), until === null ? 'infinity' : textOf(until)];
}

function textOf(at: Date): string {
  const year = at.getUTCFullYear();
  if (year < 1) return '-infinity';
  return year > 9_999 ? 'infinity' : at.toISOString();
}
