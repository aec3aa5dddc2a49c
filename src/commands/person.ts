import { NOT_A_PERSON } from '../cases/resolution.ts';
import {
  eraseAddress,
  lockOrdersOf,
  noteLook,
  openOrdersOf,
  ordersOf,
  type OpenOrder,
} from '../orders/erasure.sql.ts';
import { emptyAnswersOf } from '../payments/prune-answers.sql.ts';
import type { Program } from '../program.ts';
import { mentionsOf, personData } from '../reporting/person.sql.ts';
import { deleteWebhooksOf } from '../webhooks/prune-webhooks.sql.ts';
import { UsageError, type Arguments, type Told } from './arguments.ts';
import { countAllOld, prune } from '../retention.ts';

/**
 * What a person asks about an address: all that is kept, or that it be erased. It is not erased while an
 * order of it is open (its payment, its delivery, its money in suspense or a finding), unless the person says
 * so.
 */
export async function person(program: Program, { positionals, values }: Arguments): Promise<Told> {
  const [verb, email = '', ...more] = positionals.map((text) => text.trim());
  const [by, note] = [values.by?.trim() ?? '', values.note?.trim() ?? ''];
  if ((verb !== 'show' && verb !== 'erase') || !email.includes('@') || more.length > 0)
    throw new UsageError('person takes show or erase, and an e-mail address');
  if (by === '' || NOT_A_PERSON.includes(by)) throw new UsageError('who asks? --by "your name"');
  if (verb === 'show') return show(program, email, by);
  if (note === '') throw new UsageError('why? --note "asked by letter of 3 May"');
  if (`${by} ${note}`.toLowerCase().includes(email.toLowerCase()))
    throw new UsageError('the name and the note go into the journal for ever: leave the address out of them');
  return erase(program, { email, by, note, evenOpen: values['even-open'] });
}

async function show({ database }: Program, email: string, by: string): Promise<Told> {
  await noteLook(database, await ordersOf(database, email), by);
  const data = await personData(database, email);
  // Bodies come from outside: what could control the terminal is spelt out, which JSON allows.
  const text = JSON.stringify(data, null, 2).replace(/[^\P{C}\n]/gu, (mark) =>
    [...Array(mark.length).keys()]
      .map((at) => `\\u${mark.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  );
  return { text, exitCode: 0 };
}

async function erase({ database }: Program, erasure: Parameters<typeof eraseAddress>[1]): Promise<Told> {
  const { email, evenOpen } = erasure;
  const open = await openOrdersOf(database, email);
  if (open.length > 0 && !evenOpen)
    return {
      text: [
        'Nothing was erased:',
        ...open.map(lineOf),
        'End that first, or say --even-open. Then: an order that is not paid cannot be paid by a new checkout,',
        'what waits for delivery is delivered without what its shopper entered, nobody can be written to about',
        'held money, and the evidence of an open finding keeps its bodies.',
      ].join('\n'),
      exitCode: 1,
    };
  const lines = await database.transaction(async (tx) => {
    // It reads every body once.
    await tx.query('SET LOCAL statement_timeout = 0');
    const orderIds = await lockOrdersOf(tx, email);
    const answers = await emptyAnswersOf(tx, orderIds, email);
    const webhooks = await deleteWebhooksOf(tx, orderIds, email);
    const erased = await eraseAddress(tx, erasure);
    return [
      `Erased from ${erased.length} order(s)${erased.length === 0 ? '' : `: ${erased.join(', ')}`}.`,
      `${answers} answer(s) of the service emptied, their digests stay; ${webhooks} webhook(s) deleted.`,
    ];
  });
  const left = await database.transaction(async (tx) => {
    await tx.query('SET LOCAL statement_timeout = 0');
    return mentionsOf(tx, email);
  });
  const byTable = [...new Set(left.map(({ table }) => table))].map(
    (table) => `${left.filter((one) => one.table === table).length} in ${table}`,
  );
  const still =
    left.length === 0
      ? ['No table names the address any more. Backups and other systems still do.']
      : [`The address still stands in rows that are kept: ${byTable.join(', ')}.`];
  const warnings = open.map((one) => `Nobody can be written to any more about${lineOf(one)}`);
  return { text: [...lines, ...warnings, ...still].join('\n'), exitCode: left.length === 0 ? 0 : 1 };
}

function lineOf({ id, why }: OpenOrder): string {
  return ` order ${id}: ${why}`;
}

/** Prunes now what the worker prunes once a day, or says how much that is. */
export async function retention(
  { database, config: { RETAIN_BODIES_DAYS: days } }: Program,
  { values: { 'dry-run': isDry } }: Arguments,
): Promise<Told> {
  const said = (text: string): Told => ({ text, exitCode: 0 });
  if (days === undefined)
    return said('RETAIN_BODIES_DAYS is not set: answers, webhooks and messages are kept for ever.');
  const { answers, webhooks, messages } = isDry
    ? await countAllOld(database, days)
    : await prune(database, days);
  const would = isDry ? 'would be ' : '';
  const emptied = `${answers} answers and ${messages} messages ${would}emptied`;
  return said(`Older than ${days} days: ${emptied}, ${webhooks} webhooks ${would}deleted.`);
}
