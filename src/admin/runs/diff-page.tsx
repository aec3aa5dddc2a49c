import type { VNode } from 'preact';
import { caseTitle } from '../../cases/case-text.ts';
import type { RunId } from '../../platform/ids.ts';
import type { Change } from '../../reconciliation/report/runs.sql.ts';
import type { Difference } from '../../reconciliation/report/replay.ts';
import { Choice, Moment, OrderLink, Status, Table } from '../layout/parts.tsx';
import type { ComparedRun } from './runs.sql.ts';
import { verdictWords } from './verdict-text.ts';

type Props = {
  /** The run whose page it is. */
  runId: RunId;
  /** Null: the two cannot be compared. */
  difference: Difference | null;
  /** Runs to compare it with. */
  others: readonly ComparedRun[];
  against: string | null;
};

/** More rows than a person reads; `npm run reconcile -- --diff` prints them all. */
const MAX_SHOWN = 200;

/**
 * What is open after one run and not after another, for an operator who wants to know
 * what changed since then.
 */
export function DifferenceOfRuns({ runId, difference, others, against }: Props): VNode | null {
  if (others.length === 0) return null;
  return (
    <section aria-labelledby="difference">
      <h2 id="difference">What changed</h2>
      <form method="get" action={`/admin/runs/${runId}`} class="filters">
        <Choice
          id="against"
          name="against"
          label="Between this check and"
          chosen={against ?? ''}
          options={others.map(({ id, startedAt, verdict }) => ({
            value: id,
            name: `${startedAt.toISOString().slice(0, 19).replace('T', ' ')}, ${verdictWords(verdict)}`,
          }))}
        />
        <p class="field">
          <button>Compare</button>
        </p>
      </form>
      {difference === null ? (
        <p class="none">These two cannot be compared: one of them has not finished.</p>
      ) : (
        <Changes {...difference} />
      )}
    </section>
  );
}

function Changes({ from, to, changes }: Difference): VNode {
  const count = (word: Change['change']): number => changes.filter(({ change }) => change === word).length;
  return (
    <>
      <p class="none">
        From the check of{' '}
        <a href={`/admin/runs/${from.id}`}>
          <Moment at={from.startedAt} />
        </a>{' '}
        to that of{' '}
        <a href={`/admin/runs/${to.id}`}>
          <Moment at={to.startedAt} />
        </a>
        .
      </p>
      {changes.length === 0 ? (
        <p>No change: the same differences are open after both.</p>
      ) : (
        <>
          <p>
            {count('opened')} opened, {count('closed')} closed, {count('changed')} changed their class.
            {changes.length > MAX_SHOWN && ` The first ${MAX_SHOWN}:`}
          </p>
          <Table
            label="Changes"
            head={['Change', 'Finding', 'Before', 'After', 'Closed by', 'Order', 'Reference']}
          >
            {changes.slice(0, MAX_SHOWN).map((change) => (
              <Row key={String(change.id)} change={change} />
            ))}
          </Table>
        </>
      )}
    </>
  );
}

function Row({
  change: { change, id, before, after, closedBy, orderId, reference },
}: {
  change: Change;
}): VNode {
  return (
    <tr>
      <td>
        <Status word={change} />
      </td>
      <td>#{String(id)}</td>
      <td>{before === null ? '–' : caseTitle(before)}</td>
      <td>{after === null ? '–' : caseTitle(after)}</td>
      <td>{change === 'closed' ? closedBy : ''}</td>
      <td>
        <OrderLink id={orderId} />
      </td>
      <td class="words">
        <code>{reference}</code>
      </td>
    </tr>
  );
}
