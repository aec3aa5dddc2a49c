import { sendPage } from '../../platform/html.tsx';
import { readActivity } from '../../reporting/activity.sql.ts';
import type { AdminParts } from '../admin-parts.ts';
import { fitting } from '../layout/query.ts';
import { ActivityPage } from './activity-page.tsx';

const PAGE_ROWS = 100;
const DAY_MS = 86_400_000;

/** Whether a calendar and a clock show it, in a year that PostgreSQL reads. */
function isMoment(text: string): boolean {
  const at = Date.parse(`${text}Z`);
  return !Number.isNaN(at) && !text.startsWith('0000') && new Date(at).toISOString().startsWith(text);
}

/** Who did what? */
export function activityRoutes({ gateway, show }: AdminParts): void {
  const { mode } = gateway;
  show('/admin/activity', async (req, res, { database, frame }) => {
    const { query } = req;
    const by = fitting(query.by, /\S/)?.trim().slice(0, 80) ?? null;
    const day = fitting(query.day, /^\d{4}-\d{2}-\d{2}$/);
    const since = day === null || Number.isNaN(Date.parse(day)) ? null : new Date(day);
    const until = since && new Date(since.getTime() + DAY_MS);
    const key = fitting(query.before, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z [a-z-]+ [\w -]{1,60}$/);
    const before = key !== null && isMoment(key.slice(0, 19)) ? key : null;
    const rows = await readActivity(database, mode, { by, since, until, before, limit: PAGE_ROWS + 1 });
    const actions = rows.slice(0, PAGE_ROWS);
    const next = rows.length > PAGE_ROWS ? (actions.at(-1)?.key ?? null) : null;
    const filter = { by: by ?? '', day: since === null ? '' : (day ?? '') };
    sendPage(res, ActivityPage({ frame, actions, filter, next }));
  });
}
