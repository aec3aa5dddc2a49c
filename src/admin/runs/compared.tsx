import type { VNode } from 'preact';
import { Moment } from '../layout/parts.tsx';
import type { RunRow } from './runs.sql.ts';

/** Which payments a check compared. */
export function Compared({ run: { since, until } }: { run: Pick<RunRow, 'since' | 'until'> }): VNode {
  return (
    <>
      {since === null && until === null && 'all'}
      {since !== null && (
        <>
          since <Moment at={since} />
        </>
      )}
      {until !== null && (
        <>
          {' '}
          before <Moment at={until} />
        </>
      )}
    </>
  );
}
