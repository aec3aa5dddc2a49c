import { pipeline } from 'node:stream/promises';
import { textOfSheet, type Sheet } from '../platform/csv.ts';
import type { Database } from '../platform/database/database.ts';
import { UNSEEN_SEC } from '../platform/database/reads.ts';
import { parseRunId } from '../platform/ids.ts';
import type { Program } from '../program.ts';
import { EXPORTS, isExport, openExport, openMatched } from '../reporting/exports/exports.ts';
import { UsageError, type Arguments } from './arguments.ts';
import { windowOf } from './run-window.ts';

/** Prints rows of one kind to standard output as CSV, or as one JSON object per line. */
export async function exportCommand(program: Program, args: Arguments): Promise<number> {
  const [name = '', ...more] = args.positionals;
  if (more.length > 0) throw new UsageError(`export takes one name, not "${args.positionals.join(' ')}"`);
  const { database } = await program.reads.pick(UNSEEN_SEC);
  const sheet =
    name === 'matched' ? await matchedBy(database, program, args) : rowsBy(database, program, name, args);
  await pipeline(textOfSheet(sheet, args.values.json ? 'json' : 'csv'), process.stdout, { end: false });
  return 0;
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
