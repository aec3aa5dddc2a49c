import { parseArgs } from 'node:util';
import { NOT_A_PERSON } from '../cases/decision.ts';
import { parseRunId, type RunId } from '../platform/ids.ts';
import type { Begin } from '../reconciliation/reconcile.ts';
import type { RunQuestion } from './run-history.ts';

export const HELP = `npm run reconcile -- [--json] [--since ISO] [--until ISO] [--dry-run]
                     --begin --by "name" --note "why" [--even-of-our-form] [--json] | --begin --dry-run [--json]
                     --runs [--json] | --show <run> [--json] | --replay <run> | --diff <run> <run> [--json]
npm run explain   -- [--json] <order id, reference or external id> | --all [--json]
npm run orders    -- list [--since ISO] [--json]
                     cancel <order id, reference or external id> --note "why" --by "name"
npm run findings  -- list [--json] | export [--csv | --json] [--all]
                     assign <id> --owner "name" --by "name" | note <id> --note "what" --by "name"
                     resolve <id> --note "why" --by "name"
npm run suspense  -- list [--json] | assign <id> --owner "name" --by "name" | note <id> --note "what" --by "name"
                     resolve <id> --note "why" --by "name" [--decision accept|refund|credit|keep|write_off|other] [--refund "its number"]
                     surplus <id> --refund "its number" --note "why" --by "name"
npm run refunds   -- list [--json]
                     add <order> --amount 5.00 --refund "its number" --note "why" --by "name"
npm run releases  -- list [--json] | redeliver <release, event or order id> --by "name" [--note "why"]
                     send-unsent [--type order.failed] --by "name" [--note "why"]
npm run currencies -- list | release <currency> --note "why" --by "name"
                     stop | resume <currency or "everything"> --note "why" --by "name"
npm run activity  -- [--by "name"] [--since ISO] [--until ISO] [--json]  who did what
npm run after-restore -- list [--since ISO] [--json]
                     adopt <reference> --order <order id or external id> --by "name" --note "why"
npm run dispute   -- <order id, reference or external id> [--json] [--with-customer]  one file for the acquirer
npm run person    -- show <e-mail> --by "name" | erase <e-mail> --by "name" --note "why" [--even-open]
npm run retention -- [--dry-run]  prunes what is older than RETAIN_BODIES_DAYS, as the worker does daily
npm run books     -- [--month 2026-01 | --since ISO --until ISO] [--mode test|live] [--totals] [--json]
                     [--with-customers --by "name" --note "why"]
npm run export    -- orders|payments|suspense|findings|runs [--since ISO] [--until ISO] [--status WORD] [--json]
                     matched [--run RUN] [--json]
npm run doctor    -- [--json]  what is configured, reached and missing; 0: all is well, 1: to look at, 2: wrong
npm run go-live   -- [--json]  the same about the move to real money; changes nothing
npm run dialect   -- [--json]  what each key means: docs/what-the-reference-leaves-open.md
npm run db:migrate
`;

/** A command line that cannot be understood. The help goes with it. */
export class UsageError extends Error {}

export type Arguments = ReturnType<typeof readArguments>;

/** @throws what `parseArgs` throws for an option that there is not */
export function readArguments(argv: readonly string[]) {
  return parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
      csv: { type: 'boolean', default: false },
      all: { type: 'boolean', default: false },
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
  });
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
