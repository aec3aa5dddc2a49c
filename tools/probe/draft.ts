import { parseDialect, type Dialect } from '../../src/gateway/dialect/dialect.ts';
import { dialectSchema } from '../../src/gateway/dialect/schema.ts';
import type { Finding } from './finding.ts';

type Members = Record<string, unknown>;

/**
 * The dialect file that follows from the findings: what stood in the one in force, and what differs.
 * @returns its text; null: nothing differs in a way that a dialect could say
 * @throws {DialectError} it would not pass
 */
export function draftDialect(given: Members, findings: readonly Finding[]): string | null {
  const changes = findings.filter((one) => 'change' in one && one.change !== undefined);
  if (changes.length === 0) return null;
  const draft = structuredClone(given);
  for (const { about, change } of changes) set(draft, about.split('.'), change);
  const text = `${JSON.stringify(draft, null, 2)}\n`;
  parseDialect(text);
  return text;
}

/** The dialect in force, with what the findings change. */
export function withChanges(dialect: Dialect, findings: readonly Finding[]): Dialect {
  const changed = structuredClone(dialect);
  for (const { about, change } of findings) if (change !== undefined) set(changed, about.split('.'), change);
  return dialectSchema.parse(changed);
}

function set(draft: Members, [name = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) {
    draft[name] = value;
    return;
  }
  const inner = draft[name];
  const members = typeof inner === 'object' && inner !== null ? (inner as Members) : {};
  draft[name] = members;
  set(members, rest, value);
}
