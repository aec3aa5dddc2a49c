import type { Program } from '../program.ts';
import { readActivity, type Action } from '../reporting/activity.sql.ts';
import { sentenceOf } from '../reporting/activity.ts';
import { windowOf } from './arguments.ts';

const PAGE_ROWS = 1_000;
type Asked = { by?: string; since?: string; until?: string; json: boolean };

/** Who did what, newest first, by day and person. */
export async function activity(
  { database, gateway }: Pick<Program, 'database' | 'gateway'>,
  { by = '', since, until, json }: Asked,
): Promise<string> {
  const window = windowOf(since, until);
  const lines: string[] = [];
  let day = '';
  for (let before: string | null = null, more = true; more;) {
    const wanted = { by: by.trim() || null, since: window.since ?? null, until: window.until ?? null };
    const rows: Action[] = await readActivity(database, gateway.mode, {
      ...wanted,
      before,
      limit: PAGE_ROWS,
    });
    for (const row of rows) {
      const at = row.at.toISOString();
      if (!json && at.slice(0, 10) !== day) lines.push((day = at.slice(0, 10)));
      lines.push(json ? JSON.stringify(asJson(row)) : `  ${at.slice(11, 19)}  ${row.by} ${sentenceOf(row)}`);
    }
    before = rows.at(-1)?.key ?? null;
    more = rows.length === PAGE_ROWS;
  }
  if (json) return `[${lines.join(',\n')}]`;
  // Notes and references come from people and from outside: no control character reaches the terminal.
  return lines.length === 0
    ? 'Nobody did anything then.'
    : lines.map((line) => line.replace(/\p{C}/gu, '?')).join('\n');
}

function asJson({ at, by, event, orderId, reference, class: name, detail, ...row }: Action): object {
  const sentence = sentenceOf({ at, by, event, orderId, reference, class: name, detail, ...row });
  return { at, by, event, orderId, reference, class: name, detail, sentence };
}
