import { indexAlone } from '../../src/platform/database/run-script.ts';

/** What a migration must not do while the version before it still runs, and what to do instead. */
const FORBIDDEN: readonly [pattern: RegExp, instead: string][] = [
  [
    /\bDROP\s+(?:TABLE|COLUMN|SCHEMA|TYPE|VIEW)\b/i,
    'the running version still uses it: leave it, and stop reading it',
  ],
  [
    /^ALTER\s+TABLE\b.*\bDROP\s+(?!CONSTRAINT|DEFAULT|NOT\b|EXPRESSION|IDENTITY|COLUMN)/is,
    'the running version still uses it: leave it, and stop reading it',
  ],
  [/\bRENAME\b/i, 'the running version knows the old name: add the new one beside it'],
  [
    /\bALTER\s+(?:COLUMN\s+)?"?\w+"?\s+(?:SET\s+DATA\s+)?TYPE\b/i,
    'rewrites the table under a lock: add a column of the new type',
  ],
  [/\bSET\s+NOT\s+NULL\b/i, 'the running version may still write nulls: add a CHECK … NOT VALID first'],
  [/^TRUNCATE\b/i, 'takes away what the running version reads'],
];

const BIG_TABLES = 'orders|order_lines|payments|verifications|releases|webhooks|journal';

/** What of the migration breaks the version that runs now, one line each. */
export function breaksRunningVersion(migration: string): string[] {
  const made = new Set(
    [...migration.matchAll(/CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?"?(\w+)"?/gi)].map(
      ([, name = '']) => name,
    ),
  );
  return statementsOf(migration).flatMap((statement) => {
    const lines = FORBIDDEN.filter(([pattern]) => pattern.test(statement)).map(([, instead]) => instead);
    const added = /\bADD\s+(?:COLUMN\s+)?(?!CONSTRAINT)[^,;]*\bNOT\s+NULL\b[^,;]*/i.exec(statement)?.[0];
    if (added !== undefined && /^ALTER\s+TABLE/i.test(statement) && !/\bDEFAULT\b|\bGENERATED\b/i.test(added))
      lines.push('the running version inserts rows without this column: give it a default');
    if (
      /\bADD\s+(?:CONSTRAINT\s+\w+\s+)?(?:CHECK|FOREIGN\s+KEY)\b/i.test(statement) &&
      !/\bNOT\s+VALID\b/i.test(statement) &&
      new RegExp(`^ALTER\\s+TABLE\\s+(?:ONLY\\s+)?"?(?:${BIG_TABLES})"?\\s`, 'i').test(statement)
    )
      lines.push('checks all rows under a lock: add it NOT VALID and validate it after');
    const isOnBigTable = new RegExp(`^ALTER\\s+TABLE\\s+(?:ONLY\\s+)?"?(?:${BIG_TABLES})"?\\s`, 'i').test(
      statement,
    );
    if (
      isOnBigTable &&
      /\bADD\s+(?!CONSTRAINT|CHECK|FOREIGN)[^,;]*\b(?:UNIQUE|PRIMARY\s+KEY|REFERENCES|CHECK)\b/i.test(
        statement,
      )
    )
      lines.push(
        'checks all rows under a lock: add the column alone, and its constraint NOT VALID or by an index',
      );
    if (
      isOnBigTable &&
      /\b(?:STORED|DEFAULT\s+(?:gen_random_uuid|random|clock_timestamp|nextval)\b)/i.test(statement)
    )
      lines.push('rewrites the table under a lock: add the column without it, and fill it in parts');
    const index = new RegExp(
      `^CREATE\\s+(?:UNIQUE\\s+)?INDEX\\s+(?!CONCURRENTLY).*\\bON\\s+"?(${BIG_TABLES})"?\\b`,
      'is',
    ).exec(statement);
    if (index?.[1] !== undefined && !made.has(index[1]))
      lines.push(
        'locks a big table against writing: CREATE INDEX CONCURRENTLY IF NOT EXISTS, alone in its migration',
      );
    if (/\bCONCURRENTLY\b/i.test(statement) && indexAlone(migration) === null)
      lines.push(
        'cannot be run again after it was killed: CREATE INDEX CONCURRENTLY IF NOT EXISTS, alone in its migration',
      );
    if (/^(?:LOCK|CLUSTER|REINDEX(?!.*CONCURRENTLY)|VACUUM\s+\(?FULL)\b/i.test(statement))
      lines.push('keeps everybody else from the table for as long as it takes');
    return lines.map((line) => `${statement.slice(0, 60).replace(/\s+/g, ' ')}: ${line}`);
  });
}

/**
 * Without comments, and without the bodies of functions: what those do later is not done by the migration.
 */
function statementsOf(migration: string): string[] {
  return migration
    .replace(/--.*$/gm, '')
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\$(\w*)\$.*?\$\1\$/gs, "''")
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}
