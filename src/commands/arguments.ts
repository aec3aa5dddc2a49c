import { parseArgs } from 'node:util';
import { NOT_A_PERSON } from '../cases/decision.ts';
import { parseRunId, type RunId } from '../platform/ids.ts';
import { UsageError } from '../platform/usage.ts';
import type { Begin } from '../reconciliation/steps.ts';
import type { RunQuestion } from './run-history.ts';

export { UsageError };

/** An option of any command; `usages.ts` says which command has it and what it means. */
export type Option = keyof (typeof CONFIG)['options'];
export type Arguments = ReturnType<typeof readArguments>;

const CONFIG = {
  allowPositionals: true,
  tokens: true,
  options: {
    json: { type: 'boolean', default: false },
    'dry-run': { type: 'boolean', default: false },
    csv: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    evidence: { type: 'boolean', default: false },
    begin: { type: 'boolean', default: false },
    'even-of-our-form': { type: 'boolean', default: false },
    runs: { type: 'boolean', default: false },
    show: { type: 'string' },
    replay: { type: 'string' },
    diff: { type: 'string' },
    since: { type: 'string' },
    until: { type: 'string' },
    note: { type: 'string' },
    by: { type: 'string' },
    owner: { type: 'string' },
    decision: { type: 'string' },
    refund: { type: 'string' },
    order: { type: 'string' },
    'with-customer': { type: 'boolean', default: false },
    'even-open': { type: 'boolean', default: false },
    month: { type: 'string' },
    mode: { type: 'string' },
    status: { type: 'string' },
    run: { type: 'string' },
    totals: { type: 'boolean', default: false },
    'with-customers': { type: 'boolean', default: false },
    amount: { type: 'string' },
    type: { type: 'string' },
  },
} as const;

/**
 * What was typed after a command.
 * @param known the options that the command has, with their dashes; undefined: all that there are
 * @throws {UsageError} for an option of another command, and what `parseArgs` throws for one that there is
 * not
 */
export function readArguments(args: readonly string[], known?: readonly string[]) {
  const given = parseArgs({ ...CONFIG, args: [...args] });
  for (const token of given.tokens)
    if (token.kind === 'option' && known?.includes(`--${token.name}`) === false)
      throw new UsageError(`Unknown option '${token.rawName}'`);
  return given;
}

/** Who begins reconciliation, and why. @returns undefined when the run is a usual one */
export function beginOf({ values }: Arguments): Begin | undefined {
  const evenOfOurForm = values['even-of-our-form'];
  if (!values.begin) {
    if (evenOfOurForm) throw new UsageError('--even-of-our-form goes with --begin');
    return undefined;
  }
  const [by, note] = [values.by?.trim() ?? '', values.note?.trim() ?? ''];
  if (values.since !== undefined || values.until !== undefined)
    throw new UsageError('a begin is about the whole list: leave out --since and --until');
  if (!values['dry-run'] && (by === '' || note === ''))
    throw new UsageError(
      'who begins, and why? --begin --by "name" --note "why" (--begin --dry-run shows first)',
    );
  if (NOT_A_PERSON.includes(by)) throw new UsageError(`"${by}" is not a person: give your name with --by`);
  return { by, note, evenOfOurForm };
}

/** @returns null when a run is asked for, not a question about earlier runs */
export function runQuestionOf({ values, positionals }: Arguments): RunQuestion | null {
  const { runs, diff, json } = values;
  const [show, replay] = [values.show, values.replay].map((id) => (id === undefined ? id : runIdOf(id)));
  const asked = [runs || undefined, show, replay, diff].filter((one) => one !== undefined).length;
  if (asked === 0) return null;
  if (asked > 1) throw new UsageError('ask for one of --runs, --show, --replay and --diff');
  if (diff === undefined) {
    if (positionals.length > 0) throw new UsageError(`reconcile takes no "${positionals.join(' ')}"`);
    return { runs, show, replay, diff, json };
  }
  const [other, ...more] = positionals;
  if (other === undefined || more.length > 0) throw new UsageError('which two? --diff <run> <run>');
  return { runs, show, replay, diff: [runIdOf(diff), runIdOf(other)], json };
}

function runIdOf(text: string): RunId {
  const id = parseRunId(text);
  if (id === null) throw new UsageError(`"${text}" is not the id of a run`);
  return id;
}

/** What was typed is no window. The message says what to type. */
export class WindowError extends Error {}

const INSTANT = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?)?$/i;

/**
 * The window of a run: it includes `since` and excludes `until`. A date alone begins at midnight UTC. A
 * time must name its zone: without one it would mean another moment on another machine.
 * @throws {WindowError}
 */
export function windowOf(
  since: string | undefined,
  until: string | undefined,
): { since: Date | undefined; until: Date | undefined } {
  const window = { since: instantOf('--since', since), until: instantOf('--until', until) };
  if (window.since !== undefined && window.until !== undefined && window.since >= window.until)
    throw new WindowError(`--since must lie before --until: type --since ${until} --until ${since}`);
  return window;
}

function instantOf(option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const [, day, time, zone] = INSTANT.exec(text) ?? [];
  if (day === undefined) throw new WindowError(`${option} must be an ISO time like 2026-01-31T00:00:00Z`);
  if (time !== undefined && zone === undefined)
    throw new WindowError(`${option} ${text} names no time zone: type ${option} ${text}Z for UTC`);
  const [instant, midnight] = [new Date(text), new Date(`${day}T00:00:00Z`)];
  const isKnown = !Number.isNaN(instant.getTime()) && !Number.isNaN(midnight.getTime());
  // JavaScript takes the 30th of February for the 2nd of March.
  if (!isKnown || !midnight.toISOString().startsWith(day))
    throw new WindowError(`${option} ${text} is no time of the calendar`);
  return instant;
}
