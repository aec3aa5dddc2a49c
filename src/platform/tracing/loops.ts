import { systemClock } from '../clock.ts';
import type { LoopWatch } from '../poller/poller.ts';
import { EVENT, ORDER_ID, REFERENCE, RELEASE, ROWS } from './attributes.ts';
import type { Attributes, Place, Tracing } from './tracing.ts';

/**
 * A span for each claim that found rows, and one for the work on each row. The work on a row has a trace
 * of its own, linked to the claim: thirty payments that were claimed together have nothing else in common.
 */
export function traceLoops(tracing: Tracing): LoopWatch {
  return ({ name, claim, work, workOnLent = work, label }) => {
    const claimedIn = new Map<unknown, Place>();
    const traced =
      (act: typeof work): typeof work =>
      (row) => {
        const pass = claimedIn.get(row);
        claimedIn.delete(row);
        return tracing.span(
          {
            name: `due ${name}`,
            parent: null,
            attributes: attributesOf(label?.(row) ?? {}),
            links: pass === undefined ? [] : [pass],
          },
          () => act(row),
        );
      };
    return {
      claim: async (limit) => {
        const startedAt = systemClock.now();
        const rows = await claim(limit);
        if (rows.length > 0) {
          const pass = tracing.open({
            name: `claim ${name}`,
            startedAt,
            attributes: { [ROWS]: rows.length },
          });
          for (const row of rows) claimedIn.set(row, pass.place);
          pass.end();
        }
        return rows;
      },
      work: traced(work),
      workOnLent: traced(workOnLent),
    };
  };
}

function attributesOf({ reference, orderId, release, event }: Record<string, string>): Attributes {
  return {
    ...(reference !== undefined && { [REFERENCE]: reference }),
    ...(orderId !== undefined && { [ORDER_ID]: orderId }),
    ...(release !== undefined && { [RELEASE]: release }),
    ...(event !== undefined && { [EVENT]: event }),
  };
}
