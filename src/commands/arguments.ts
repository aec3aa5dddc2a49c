import { parseArgs } from 'node:util';
import { UsageError } from '../platform/usage.ts';

export { UsageError };

const flag = (meaning: string) => ({ type: 'boolean', default: false, meaning }) as const;
const text = (meaning: string) => ({ type: 'string', meaning }) as const;

/** The options of all commands, and what each means; `commands.ts` says which command has it. */
export const OPTIONS = {
  json: flag('as JSON, for programs'),
  'dry-run': flag('shows what it would do and changes nothing'),
  all: flag('everything, not only one'),
  evidence: flag('every row that is kept of it, in the order of time'),
  begin: flag('reconciliation begins now: what was before is not raised'),
  'even-of-our-form': flag('with --begin: also references of our form'),
  runs: flag('lists earlier runs'),
  show: text('prints the report of a run again'),
  replay: text('the same, to the byte as --json printed it'),
  diff: text('what changed between two runs'),
  since: text('from this time on, 2026-01-31 or 2026-01-31T08:00:00Z'),
  until: text('up to this time, not included'),
  note: text('why; it is kept'),
  by: text('your name; it is kept'),
  owner: text('who works on it'),
  decision: text('accept, refund, credit, keep, write_off or other'),
  refund: text('the number of the refund at the payment service'),
  order: text('order id or your own number of it'),
  'with-customer': flag('with the whole e-mail address'),
  'even-open': flag('also when an order is still open'),
  month: text('a month like 2026-01'),
  mode: text('test or live'),
  status: text('only rows with this status'),
  run: text('the run (without it: the last complete one)'),
  totals: flag('only the totals'),
  'with-customers': flag('with whole e-mail addresses; needs --by and --note'),
  amount: text('in major units, 5.00'),
  type: text('only events of this type, order.failed'),
} as const;

export type Option = keyof typeof OPTIONS;
export type Arguments = ReturnType<typeof readArguments>;
/** What a command prints at its end. */
export type Told = { text: string; exitCode: number };

/**
 * What was typed after a command.
 * @param known the options that the command has; undefined: all that there are
 * @throws {UsageError} for an option of another command, and what `parseArgs` throws for one that there is
 * not
 */
export function readArguments(args: readonly string[], known?: readonly Option[]) {
  const given = parseArgs({ allowPositionals: true, tokens: true, options: OPTIONS, args: [...args] });
  for (const token of given.tokens)
    if (token.kind === 'option' && known?.some((name) => name === token.name) === false)
      throw new UsageError(`Unknown option '${token.rawName}'`);
  return given;
}

const INSTANT = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?)?$/i;

/**
 * The window of a run: it includes `since` and excludes `until`. A date alone begins at midnight UTC. A
 * time must name its zone: without one it would mean another moment on another machine.
 * @throws {UsageError}
 */
export function windowOf(
  since: string | undefined,
  until: string | undefined,
): { since: Date | undefined; until: Date | undefined } {
  const window = { since: instantOf('--since', since), until: instantOf('--until', until) };
  if (window.since !== undefined && window.until !== undefined && window.since >= window.until)
    throw new UsageError(`--since must lie before --until: type --since ${until} --until ${since}`);
  return window;
}

function instantOf(option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const [, day, time, zone] = INSTANT.exec(text) ?? [];
  if (day === undefined) throw new UsageError(`${option} must be an ISO time like 2026-01-31T00:00:00Z`);
  if (time !== undefined && zone === undefined)
    throw new UsageError(`${option} ${text} names no time zone: type ${option} ${text}Z for UTC`);
  const [instant, midnight] = [new Date(text), new Date(`${day}T00:00:00Z`)];
  const isKnown = !Number.isNaN(instant.getTime()) && !Number.isNaN(midnight.getTime());
  // JavaScript takes the 30th of February for the 2nd of March.
  if (!isKnown || !midnight.toISOString().startsWith(day))
    throw new UsageError(`${option} ${text} is no time of the calendar`);
  return instant;
}
