import { systemClock } from '../platform/clock.ts';
import type { LoopWatch } from '../platform/poller.ts';
import {
  EVENT,
  ORDER_ID,
  REFERENCE,
  RELEASE,
  ROWS,
  type Attributes,
  type Place,
  type Tracing,
  DB_OPERATION,
  DB_STATEMENT,
  DB_SYSTEM,
  type SpanStart,
} from '../platform/tracing/tracing.ts';
import type { Database, Queryable } from '../platform/database/database.ts';

/**
 * A span for each lease that found rows, and one for the work on each row. The work on a row has a trace
 * of its own, linked to the lease: thirty payments that were leased together have nothing else in common.
 */
export function traceLoops(tracing: Tracing): LoopWatch {
  return ({ name, lease, work, workOnLent = work, label }) => {
    const leasedIn = new Map<unknown, Place>();
    const traced =
      (act: typeof work): typeof work =>
      (row) => {
        const pass = leasedIn.get(row);
        leasedIn.delete(row);
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
      lease: async (limit) => {
        const startedAt = systemClock.now();
        const rows = await lease(limit);
        if (rows.length > 0) {
          const pass = tracing.open({
            name: `lease ${name}`,
            startedAt,
            attributes: { [ROWS]: rows.length },
          });
          for (const row of rows) leasedIn.set(row, pass.place);
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

/**
 * A span for each statement that runs inside of another span: with its name, never its text or its
 * values. The loops' queries that run every second and find nothing are inside of none.
 */
export function traceDatabase(database: Database, tracing: Tracing): Database {
  const within = <T>(start: () => SpanStart, work: () => Promise<T>): Promise<T> =>
    tracing.here() === null ? work() : tracing.span(start(), work);
  const watch =
    (query: Queryable['query']): Queryable['query'] =>
    (statement, values) =>
      within(
        () => (typeof statement === 'string' ? unnamed(statement) : named(statement.name)),
        () => query(statement, values),
      );
  return {
    ...database,
    query: watch(database.query),
    watch,
    plainPool: {
      query: (config) =>
        within(
          () => unnamed(config.text),
          () => database.plainPool.query(config),
        ),
    },
    transaction: (work) =>
      within(
        () => named('transaction'),
        () => database.transaction((tx) => work({ query: watch(tx.query) })),
      ),
  };
}

function named(name: string): SpanStart {
  return { name, kind: 'client', attributes: { [DB_SYSTEM]: 'postgresql', [DB_STATEMENT]: name } };
}

function unnamed(text: string): SpanStart {
  const operation = /[a-z]+/i.exec(text)?.[0].toUpperCase() ?? 'SQL';
  return {
    name: operation,
    kind: 'client',
    attributes: { [DB_SYSTEM]: 'postgresql', [DB_OPERATION]: operation },
  };
}
