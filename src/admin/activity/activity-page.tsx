import type { VNode } from 'preact';
import type { Action } from '../../reporting/activity.sql.ts';
import { sentenceOf } from '../../reporting/activity.ts';
import { AdminPage, type Frame } from '../layout/frame.tsx';
import { Moment, Older, OrderLink, Table } from '../layout/parts.tsx';

type Filter = { by: string; day: string };
type Props = { frame: Frame; actions: readonly Action[]; filter: Filter; next: string | null };

/** What people did, newest first. */
export function ActivityPage({ frame, actions, filter, next }: Props): VNode {
  return (
    <AdminPage frame={frame} title="Activity" here="/admin/activity">
      <form method="get" action="/admin/activity" class="filters">
        <p class="field">
          <label for="by">Person</label>
          <input id="by" name="by" maxLength={80} value={filter.by} />
        </p>
        <p class="field">
          <label for="day">Day, in UTC</label>
          <input id="day" name="day" type="date" value={filter.day} />
        </p>
        <p class="field">
          <button>Show</button>
        </p>
      </form>
      {actions.length === 0 ? (
        <p class="none">Nobody did anything then.</p>
      ) : (
        <Table label="What people did" head={['When', 'Who', 'What', 'Order']}>
          {actions.map((action) => (
            <tr key={action.key}>
              <td>
                <Moment at={action.at} />
              </td>
              <td>{action.by}</td>
              <td class="words">{sentenceOf(action)}</td>
              <td>
                <OrderLink id={action.orderId} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {next !== null && <Older address="/admin/activity" params={{ ...filter, before: next }} />}
    </AdminPage>
  );
}
