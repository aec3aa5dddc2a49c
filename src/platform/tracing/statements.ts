import type { Database, Queryable } from '../database/database.ts';
import { DB_OPERATION, DB_STATEMENT, DB_SYSTEM } from './attributes.ts';
import type { SpanStart, Tracing } from './tracing.ts';

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
