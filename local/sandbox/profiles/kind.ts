import { json, type Answer } from '../api/answer.ts';
import { toJsonText } from '../api/json.ts';
import { amountOnRecord } from '../assumptions.ts';
import type { Notice, State, Transaction } from '../ledger/transaction.ts';
import type { Money } from '../money.ts';
import { plain } from './plain.ts';
import type { Facts, Profile, Words } from './profile.ts';
import type { List, Paged, Query, Slice } from './shapes/paging.ts';
import { oldestFirst } from './shapes/paging.ts';
import { hmac, SHA256_HEX } from './shapes/signing.ts';

/** A service as data: in what it differs from the plain one. */
export type Kind = Pick<Profile, 'title' | 'kind'> &
  Partial<Profile> & {
    /** Those that differ from the plain service's. */
    words?: Partial<Words>;
    /** The fields of a record; the word and the amount are those that verify tells. */
    record: Fields;
    /** Where a record has the four facts, where that is not at their names. */
    names?: Partial<Facts>;
    /** Where an answer has its record, as a JSON pointer; "": it is the record. */
    at?: string;
    /** Where the answer of initialize has the address of the page. */
    url?: string;
    /** What else stands in an answer that carries out a call, and in one that refuses it. */
    fine?: object;
    bad?: object;
    list: {
      at: string;
      /** The fields of a row, where they differ from those of verify's record. */
      row?: Fields;
      /** The rows of one transaction, where it has several. */
      rows?(row: Record<string, unknown>, transaction: Transaction): Record<string, unknown>[];
      order?: 'oldest first';
      page(list: List, query: Query): Paged;
      /** What the answer says of the rest of the list. */
      told?(slice: Slice): object;
    };
    hook?: {
      /** The body of a webhook; the record wrapped as `data` by default. */
      body?(record: Record<string, unknown>, notice: Notice, at: Date): object;
      /** The headers that prove it. */
      sign?(secret: string, body: string, at: Date): Record<string, string>;
    };
  };

export type Fields = (transaction: Transaction, word: string, amount: Money) => Record<string, unknown>;

const WORDS: Words = {
  pending: 'PENDING',
  'in-review': 'IN_REVIEW',
  abandoned: 'PENDING',
  paid: 'SUCCESS',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
  expired: 'EXPIRED',
  reversed: 'REVERSED',
};
const NAMES: Facts = { reference: '/reference', status: '/status', amount: '/amount', currency: '/currency' };

/** The profile that the data describes. */
export function kindOf({
  words = {},
  record,
  names = {},
  at = '/data',
  url = '/data',
  fine = { status: true },
  bad = { status: false },
  list,
  hook = {},
  ...own
}: Kind): Profile {
  const told: Record<State, string> = { ...WORDS, ...words };
  const fieldsBy = (fields: Fields) => (transaction: Transaction) =>
    fields(transaction, told[transaction.state], amountOnRecord(transaction));
  const facts = { ...NAMES, ...names };
  const recordOf = fieldsBy(record);
  const rowOf = fieldsBy(list.row ?? record);
  const refused = (status: number, message: string): Answer => json(status, { ...bad, message });
  const body = hook.body ?? wrapped;
  const sign = hook.sign ?? signBody;
  return {
    ...plain,
    opened: ({ checkoutUrl }) => json(200, placed(url, checkoutUrl, fine)),
    duplicate: () => refused(409, 'the reference was used before'),
    found: (transaction) => json(200, placed(at, recordOf(transaction), fine)),
    unknown: () => refused(404, 'no payment has this reference'),
    refused,
    facts: {
      reference: at + facts.reference,
      status: at + facts.status,
      amount: at + facts.amount,
      currency: at + facts.currency,
    },
    history(all, query) {
      const paged = list.page(list.order === undefined ? all : oldestFirst(all), query);
      if (typeof paged === 'string') return refused(400, paged);
      const { rows = (row) => [row] } = list;
      const shown = paged.rows.flatMap((transaction) => rows(rowOf(transaction), transaction));
      return json(200, placed(list.at, shown, { ...fine, ...list.told?.(paged) }));
    },
    webhook(notice, secret, now) {
      const text = toJsonText(body(recordOf(notice.transaction), notice, now));
      return { headers: { 'content-type': 'application/json', ...sign(secret, text, now) }, body: text };
    },
    ...own,
  };
}

function wrapped(data: Record<string, unknown>): object {
  return { event: 'payment', data };
}

function signBody(secret: string, body: string): Record<string, string> {
  return { 'x-signature': hmac(secret, body, SHA256_HEX) };
}

/** The value at its place in an object that has the other fields beside it. */
function placed(pointer: string, value: unknown, beside: object): unknown {
  if (pointer === '') return value;
  const [, name = '', ...rest] = pointer.split('/');
  const deeper = rest.length === 0 ? value : placed(`/${rest.join('/')}`, value, {});
  return { ...beside, [name]: deeper };
}
