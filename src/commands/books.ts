import { pipeline } from 'node:stream/promises';
import { NOT_A_PERSON } from '../cases/resolution.ts';
import { textOfSheet, type Sheet } from '../platform/csv.ts';
import { UNSEEN_SEC } from '../platform/database/reads.ts';
import type { Mode } from '../platform/mode.ts';
import type { Program } from '../program.ts';
import { openBooks, type Total } from '../reporting/books.ts';
import { noteDisclosure, monthOf, type Period } from '../reporting/books.sql.ts';
import { UsageError, type Arguments, windowOf, type Told } from './arguments.ts';
import type { Database } from '../platform/database/database.ts';
import { parseRunId } from '../platform/ids.ts';
import { EXPORTS, isExport, openExport, openMatched } from '../reporting/exports.ts';

/** Rows stream to standard output; nothing is left to print. */
const PRINTED: Told = { text: '', exitCode: 0 };

/**
 * Prints the books of a period: rows to standard output, what they add up to behind them to standard error.
 */
export async function booksCommand(
  { database: primary, reads, gateway }: Program,
  args: Arguments,
): Promise<Told> {
  const { values } = args;
  const mode = modeOf(values.mode) ?? gateway.mode;
  const period = periodOf(args);
  const withCustomers = values['with-customers'];
  if (withCustomers) await noteDisclosure(primary, { mode, period, ...whoAndWhy(args) });
  const { database } = await reads.pick(UNSEEN_SEC);
  const books = openBooks(database, gateway.dialect, { mode, period, withCustomers });
  const sheet = values.totals ? books.totalsSheet : books.sheet;
  await pipeline(textOfSheet(sheet, values.json ? 'json' : 'csv'), process.stdout, { end: false });
  if (!values.totals) process.stderr.write(textOfTotals(books.totals(), mode));
  return PRINTED;
}

function textOfTotals(totals: readonly Total[], mode: Mode): string {
  if (totals.length === 0) return `Nothing happened to money in ${mode} mode in these days (UTC).\n`;
  const lines = totals.map(({ currency, ...sums }) =>
    [
      `${currency} ${mode}`,
      ...Object.entries(sums).flatMap(([name, sum]) => (sum === '' ? [] : [`${name} ${sum}`])),
    ].join('  '),
  );
  return `${lines.join('\n')}\n`;
}

/** The month, or the window; everything when neither is given. */
function periodOf({ values: { month, since, until } }: Arguments): Period {
  if (month === undefined) {
    const window = windowOf(since, until);
    return { since: window.since ?? null, until: window.until ?? null };
  }
  if (since !== undefined || until !== undefined)
    throw new UsageError('give --month, or --since and --until');
  const period = monthOf(month);
  if (period === null) throw new UsageError(`--month must be like 2026-01, not "${month}"`);
  return period;
}

function modeOf(text: string | undefined): Mode | undefined {
  if (text === undefined || text === 'test' || text === 'live') return text;
  throw new UsageError(`--mode must be test or live, not "${text}"`);
}

function whoAndWhy({ values }: Arguments): { to: string; note: string } {
  const [to, note] = [values.by?.trim() ?? '', values.note?.trim() ?? ''];
  if (to === '' || note === '')
    throw new UsageError('who takes the addresses, and why? --with-customers --by "name" --note "why"');
  if (NOT_A_PERSON.includes(to)) throw new UsageError(`"${to}" is not a person: give your name with --by`);
  return { to, note };
}

/** Prints rows of one kind to standard output as CSV, or as one JSON object per line. */
export async function exportCommand(program: Program, args: Arguments): Promise<Told> {
  const [name = '', ...more] = args.positionals;
  if (more.length > 0) throw new UsageError(`export takes one name, not "${args.positionals.join(' ')}"`);
  const { database } = await program.reads.pick(UNSEEN_SEC);
  const sheet =
    name === 'matched' ? await matchedBy(database, program, args) : rowsBy(database, program, name, args);
  await pipeline(textOfSheet(sheet, args.values.json ? 'json' : 'csv'), process.stdout, { end: false });
  return PRINTED;
}

function rowsBy(database: Database, { gateway }: Program, name: string, { values }: Arguments): Sheet {
  if (!isExport(name))
    throw new UsageError(`export what? ${Object.keys(EXPORTS).join(', ')} or matched, not "${name}"`);
  const { statuses }: { statuses: readonly string[] } = EXPORTS[name];
  const { status = null } = values;
  if (status !== null && !statuses.includes(status))
    throw new UsageError(`--status of ${name} is one of ${statuses.join(', ')}`);
  const { since = null, until = null } = windowOf(values.since, values.until);
  return openExport(database, name, { mode: gateway.mode, period: { since, until }, status });
}

async function matchedBy(database: Database, { gateway }: Program, { values }: Arguments): Promise<Sheet> {
  const { since, until, status, run } = values;
  if ((since ?? until ?? status) !== undefined)
    throw new UsageError('export matched takes --run and no period: a run has its own');
  const id = run === undefined ? null : parseRunId(run);
  const matched = run !== undefined && id === null ? null : await openMatched(database, gateway.mode, id);
  if (matched === null)
    throw new UsageError(`no complete run ${run ?? 'yet'}: npm run reconcile -- --runs lists them`);
  process.stderr.write(`Of ${matched.run}, which counted ${matched.counted} as matched or repaired.\n`);
  return matched.sheet;
}
