import { parseArgs } from 'node:util';
import { acceptCase, resendMessage, type ActParts } from '../payments/acts.ts';
import { endOrder, reopenOrder } from '../payments/end.ts';
import { ALL, resumeCheckouts, stopCheckouts } from '../cases/stops.ts';
import { formatMajor } from '../platform/money.ts';
import { UserFacingError } from '../platform/user-facing-error.ts';
import type { Case } from '../platform/prisma/client.ts';

/** The exit code of a command that was not understood (EX_USAGE of sysexits.h). */
export const EXIT_USAGE = 64;

const OPTIONS = {
  json: { type: 'boolean' },
  all: { type: 'boolean' },
  help: { type: 'boolean' },
  as: { type: 'string' },
  by: { type: 'string' },
  note: { type: 'string' },
  currency: { type: 'string' },
  'despite-missing-money': { type: 'boolean' },
} as const;

type Values = { [Name in keyof typeof OPTIONS]?: (typeof OPTIONS)[Name]['type'] extends 'boolean' ? boolean : string };
/** What commands work with. */
export type CommandParts = ActParts;
type Command = { usage: string; run(parts: CommandParts, words: string[], values: Values): Promise<string> };

/** Commands of operators, by their first two words. What they refuse is told as a sentence, with exit code 1. */
const COMMANDS: Record<string, Command> = {
  'cases list': { usage: 'cases list [--all] [--json]', run: listCases },
  'cases decide': { usage: 'cases decide ID --as accept --note TEXT --by NAME', run: decideCase },
  'orders cancel': { usage: 'orders cancel ORDER --note TEXT --by NAME', run: cancelOrder },
  'orders reopen': { usage: 'orders reopen ORDER --note TEXT --by NAME', run: reopen },
  'messages resend': { usage: 'messages resend ID --by NAME [--despite-missing-money --note TEXT]', run: resend },
  'checkouts stop': { usage: 'checkouts stop [--currency NGN] --note TEXT --by NAME', run: stop },
  'checkouts resume': { usage: 'checkouts resume [--currency NGN] --by NAME', run: resume },
};

export const USAGE = ['Commands:', ...Object.values(COMMANDS).map(({ usage }) => `  ${usage}`)].join('\n');

/**
 * Finds the command that words name, and reads its options.
 * @returns null where there is none @throws {UserFacingError} for options that it does not know
 */
export function findCommand(given: string[]): ((parts: CommandParts) => Promise<string>) | null {
  let parsed;
  try {
    parsed = parseArgs({ args: given, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UserFacingError(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`, EXIT_USAGE);
  }
  const { positionals, values } = parsed;
  const command = COMMANDS[positionals.slice(0, 2).join(' ')];
  if (command === undefined || values.help === true) return null;
  return (parts) => command.run(parts, positionals.slice(2), values);
}

/** What the journal calls the program's own doings. */
const NO_NAMES = ['admin', 'deadline', 'program', 'reconciliation', 'schedule', 'service', 'shop', 'shopper'];

function personIn(by: string | undefined): string {
  const name = needed(by, '--by');
  if (NO_NAMES.includes(name.toLowerCase()))
    throw new UserFacingError(`--by must be a person’s name, and not ${name}`, EXIT_USAGE);
  return name;
}

function needed(value: string | undefined, name: string): string {
  if (value === undefined || value.trim() === '') throw new UserFacingError(`${name} is needed`, EXIT_USAGE);
  return value;
}

async function listCases(
  { prisma, terms: { mode } }: CommandParts,
  _words: string[],
  { all, json }: Values,
): Promise<string> {
  const cases = await prisma.case.findMany({
    where: { mode, ...(all !== true && { closedAt: null }) },
    orderBy: { id: 'asc' },
  });
  const rows = cases.map(viewOf);
  if (json === true) return JSON.stringify(rows, null, 2);
  if (rows.length === 0) return 'Nothing to do.';
  return rows
    .map((row) => `${row.id}  ${row.class}  ${row.reference}  held ${row.held}, missing ${row.missing} ${row.currency}`)
    .join('\n');
}

function viewOf({ id, class: name, reference, orderId, held, missing, currency, openedAt }: Case) {
  const [heldText, missingText] = [held, missing].map((amount) => formatMajor({ amount, currency }));
  return {
    id: Number(id),
    class: name,
    reference,
    orderId,
    held: heldText,
    missing: missingText,
    currency,
    openedAt: openedAt.toISOString(),
  };
}

async function decideCase(parts: CommandParts, [id = '']: string[], { as, by, note }: Values): Promise<string> {
  if (as !== 'accept') throw new UserFacingError('--as must be accept', EXIT_USAGE);
  const open = /^\d{1,18}$/.test(id)
    ? await parts.prisma.case.findFirst({ where: { id: BigInt(id), closedAt: null } })
    : null;
  if (open === null) throw new UserFacingError(`there is no open case ${id}`);
  const accepted = await acceptCase(parts, open.id, personIn(by), needed(note, '--note'), open.digest);
  if (accepted.outcome === 'not-allowed') throw new UserFacingError(`case ${id} cannot be accepted: ${accepted.why}`);
  if (accepted.outcome !== 'accepted')
    throw new UserFacingError(`case ${id} is not any more what it was: look at it again`);
  return `Accepted: the order ${open.orderId ?? ''} is paid.`;
}

async function cancelOrder(parts: CommandParts, [orderId = '']: string[], { by, note }: Values): Promise<string> {
  const ended = await endOrder(parts, orderId, personIn(by), needed(note, '--note'));
  if (ended === 'ended') return `The order ${orderId} has ended.`;
  const why = {
    paid: 'it is paid',
    review: 'money of it is looked at: decide its case',
    'not-due': 'its deadline has not come',
    unanswered: 'the service must say first that nothing was paid, and it could not be asked',
    'unknown-order': 'there is no such order',
  };
  throw new UserFacingError(`the order ${orderId} is not cancelled: ${why[ended]}`);
}

async function reopen(parts: CommandParts, [orderId = '']: string[], { by, note }: Values): Promise<string> {
  if (await reopenOrder(parts, orderId, personIn(by), needed(note, '--note')))
    return `The order ${orderId} is open again.`;
  throw new UserFacingError(`the order ${orderId} has not ended, or is paid, or does not exist`);
}

async function resend(parts: CommandParts, [id = '']: string[], values: Values): Promise<string> {
  const despite = values['despite-missing-money'] === true ? needed(values.note, '--note') : null;
  const resent = await resendMessage(parts, id, personIn(values.by), despite);
  if (resent === 'unknown-message') throw new UserFacingError(`there is no message ${id}`);
  if (resent === 'held')
    throw new UserFacingError('its money is missing: --despite-missing-money --note TEXT sends it all the same');
  return `The message ${id} is sent again, under the same id.`;
}

async function stop(parts: CommandParts, _words: string[], { currency = ALL, by, note }: Values): Promise<string> {
  await stopCheckouts(parts.prisma, parts.terms.mode, currency.toUpperCase(), personIn(by), needed(note, '--note'));
  return `New checkouts are stopped: ${currency.toUpperCase()}.`;
}

async function resume(parts: CommandParts, _words: string[], { currency = ALL, by }: Values): Promise<string> {
  const wasStopped = await resumeCheckouts(parts.prisma, parts.terms.mode, currency.toUpperCase(), personIn(by));
  return wasStopped
    ? `New checkouts are open: ${currency.toUpperCase()}.`
    : `There was no stop of ${currency.toUpperCase()}.`;
}
