import type { Program } from './compose.ts';
import { displayMoney } from './platform/money.ts';
import { listFindings, resolveFinding } from './reconciliation/findings.ts';
import { openSuspense, resolveSuspense } from './suspense/repository.ts';

export type WorkListArguments = {
  positionals: string[];
  values: { by?: string; note?: string; json: boolean };
};

type WorkList = {
  /** One line per open item, ready to print. */
  list(program: Program): Promise<string[]>;
  resolve(program: Program, id: bigint, by: string, note: string): Promise<boolean>;
};

const LISTS: Record<'findings' | 'suspense', WorkList> = {
  findings: {
    list: async ({ database, gateway }) =>
      (await listFindings(database, gateway.mode)).map(
        ({ id, class: kind, reference, orderId, age }) =>
          `${String(id).padEnd(6)} ${kind.padEnd(22)} ${age.padEnd(12)} ${reference}  ${orderId ?? ''}`,
      ),
    resolve: ({ database }, id, by, note) => resolveFinding(database, id, by, note),
  },
  suspense: {
    list: async ({ database, gateway }) =>
      (await openSuspense(database, gateway.mode)).map(
        ({ id, class: kind, reference, orderId, openedAt, amount, currency }) =>
          `${String(id).padEnd(6)} ${kind.padEnd(22)} ${displayMoney({ amount, currency }).padStart(18)}  ${openedAt.toISOString()}  ${reference}  ${orderId ?? ''}`,
      ),
    resolve: ({ database }, id, by, note) => resolveSuspense(database, id, by, note),
  },
};

/** The two lists a person works through: `list`, and `resolve <id> --note … --by …`. @returns the exit code */
export async function workList(
  program: Program,
  name: keyof typeof LISTS,
  args: WorkListArguments,
): Promise<number> {
  const [verb = 'list', id] = args.positionals;
  if (verb === 'list') {
    const lines = await LISTS[name].list(program);
    process.stdout.write(lines.length === 0 ? 'Nothing is open.\n' : `${lines.join('\n')}\n`);
    return 0;
  }
  const [by, note] = [args.values.by?.trim(), args.values.note?.trim()];
  if (verb !== 'resolve' || id === undefined || !/^\d{1,18}$/.test(id) || !by || !note) {
    process.stderr.write(`type: npm run ${name} -- resolve <id> --note "why" --by "your name"\n`);
    return 64;
  }
  // Its entries could not be told from ours.
  if (by === 'reconciliation') {
    process.stderr.write('"reconciliation" is not a person: give your name with --by\n');
    return 64;
  }
  const isResolved = await LISTS[name].resolve(program, BigInt(id), by, note);
  process.stdout.write(isResolved ? 'Resolved.\n' : 'There is no such open item.\n');
  return isResolved ? 0 : 1;
}
