import type { VNode } from 'preact';
import { type Action, readActivity } from '../reporting/activity.sql.ts';
import { sentenceOf } from '../reporting/activity.ts';
import { AdminPage, type Frame } from './layout/frame.tsx';
import { Button, Field, Moment, Older, OrderLink, Table } from './layout/parts.tsx';
import { sendPage } from '../platform/html.tsx';
import type { AdminParts } from './pages.ts';
import { fitting } from './action-form.ts';

type Filter = { by: string; day: string };
type Props = { frame: Frame; actions: readonly Action[]; filter: Filter; next: string | null };

/** What people did, newest first. */
function ActivityPage({ frame, actions, filter, next }: Props): VNode {
  return (
    <AdminPage frame={frame} title="Activity" here="/admin/activity">
      <form method="get" action="/admin/activity" class="filters">
        <Field id="by" label="Person" name="by" maxLength={80} value={filter.by} />
        <Field id="day" label="Day, in UTC" name="day" type="date" value={filter.day} />
        <Button>Show</Button>
      </form>
      {actions.length === 0 ? (
        <p class="none">Nobody did anything then.</p>
      ) : (
        <Table
          label="What people did"
          head={['When', 'Who', { words: 'What' }, 'Order']}
          rows={actions.map((action) => [
            <Moment at={action.at} />,
            action.by,
            sentenceOf(action),
            <OrderLink id={action.orderId} />,
          ])}
        />
      )}
      {next !== null && <Older address="/admin/activity" params={{ ...filter, before: next }} />}
    </AdminPage>
  );
}

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
