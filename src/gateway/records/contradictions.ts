import type { Mode } from '../../platform/mode.ts';
import {
  claimsAround,
  claimsOf,
  claimsOfAttempt,
  type Claim,
  type RecordPointers,
  type Repeated,
} from './claims.ts';
import { foldWord, type Dialect } from '../dialect/dialect.ts';
import { amountOf, classOf, currencyOf, modeOf, isNothing, isTakenBack } from './field-values.ts';
import { meaningOf } from './field-meaning.ts';
import { AMOUNT, MUST_BE_FALSE, TAKEN_BACK, WITH_FLAG, wordsOfName } from './field-name-words.ts';
import { isRecord, numberText, stringOf, type Json } from '../dialect/json-pointer.ts';

/**
 * Reading tolerantly finds fields; it never trusts them. A record that says paid is proof
 * only when every field in it about this money agrees. The rules, with look-alikes in
 * both directions: docs/what-we-believe.md.
 */

/** What was read from a record that says paid. */
type Read = {
  /** Minor units of `currency`; null: absent or unreadable. */
  amount: bigint | null;
  currency: string;
  reference: string | null;
  mode: Mode | null;
};

/** @returns which fields contradict what was read, without their values; null: none */
export function findContradiction(
  record: Json,
  pointers: RecordPointers,
  dialect: Dialect,
  read: Read,
): string | null {
  return sentenceOf(claimsOf(record, pointers), read, dialect);
}

/** Like {@link findContradiction}, for the fields around the record at `place` of the answer. */
export function findContradictionAround(
  document: Json,
  place: string,
  pointers: RecordPointers,
  dialect: Dialect,
  read: Read,
): string | null {
  return sentenceOf(claimsAround(document, place, pointers), read, dialect);
}

/**
 * Whether a record says, beside a status of paid, that all of its money went back: an amount as large, or
 * without one a flag. A list of refunds alone may be of parts.
 */
export function isAllBack(record: Json, pointers: RecordPointers, dialect: Dialect, read: Read): boolean {
  const back = claimsOf(record, pointers)
    .filter(({ says, value }) => says.tells === 'taken back' && isTakenBack(value))
    .map(({ pointer, value }) => ({ words: wordsOfName(pointer.split('/').at(-1) ?? ''), value }));
  const amounts = back
    .filter(({ words }) => words.some((word) => AMOUNT.has(word)))
    .map(({ value }) => amountOf(innerOf(value, read), read.currency, dialect.amountUnit));
  if (amounts.length > 0) return amounts.some((amount) => amount !== null && amount === read.amount);
  return back.some(
    ({ words, value }) =>
      (value === true || YES.has(foldWord(numberText(value) ?? ''))) &&
      words.every((word) => WENT_BACK.has(word) || WITH_FLAG.has(word)),
  );
}

const WENT_BACK = new Set(['refunded', 'reversed', 'chargedback', 'chargeback']);

function sentenceOf(claims: readonly Claim[], read: Read, dialect: Dialect): string | null {
  const against = claims.filter((claim) => contradicts(claim, read, dialect));
  return against.length === 0 ? null : against.slice(0, MAX_NAMED).map(inWords).join('; ');
}

const MAX_NAMED = 3;

/** Whether the field says something about the payment other than what was read. */
export function contradicts({ pointer, value, says }: Claim, read: Read, dialect: Dialect): boolean {
  if (isNothing(value)) return false;
  switch (says.tells) {
    case 'again':
      return !repeats(says.what, pointer, value, read, dialect);
    case 'amount': {
      if (typeof value === 'boolean') return !value;
      // The same money in another currency, which the field's name gives.
      if (says.currency !== null && says.currency !== read.currency) return false;
      return !isSameMoney(value, read, says.isMinor ? 'minor' : dialect.amountUnit, says.isCertain);
    }
    case 'currency': {
      const code = currencyOf(value);
      return code !== null && code !== read.currency;
    }
    case 'status':
      return says.isPlace ? isWordAgainst(value, dialect) : !isWordOfPaid(value, dialect);
    case 'attempts':
      return isNonePaid(value, read, dialect);
    case 'paid flag':
      return value === false || NO.has(foldWord(numberText(value) ?? ''));
    case 'trouble flag':
      return value === true || YES.has(foldWord(numberText(value) ?? ''));
    case 'kind':
      return tellsTakenBack(stringOf(value) ?? '');
    case 'taken back':
      return isTakenBack(value);
  }
}

const NO = new Set(['false', 'no', 'n', '0', 'none']);
const YES = new Set(['true', 'yes', 'y', '1']);

function repeats(what: Repeated, pointer: string, value: Json, read: Read, dialect: Dialect): boolean {
  switch (what) {
    case 'reference':
      return numberText(value) === read.reference;
    case 'status':
      return isWordOfPaid(value, dialect);
    case 'amount':
      return read.amount !== null && amountOf(value, read.currency, dialect.amountUnit) === read.amount;
    case 'currency':
      return currencyOf(value) === read.currency;
    case 'mode': {
      // Most words there mean something other than a mode: see readMode.
      const mode = modeOf(value, pointer);
      return mode === null || mode === read.mode;
    }
  }
}

/**
 * @param isCertain whether the field can only be an amount: otherwise a text that is no number says nothing
 */
function isSameMoney(value: Json, read: Read, unit: Dialect['amountUnit'], isCertain: boolean): boolean {
  if (Array.isArray(value) && !isCertain) return isSumEnough(value, read, unit);
  const inner = innerOf(value, read);
  if (isRecord(value) && inner === undefined) return !isCertain;
  const currency = isRecord(value)
    ? (value.currency ?? value.currencyCode ?? value.currency_code)
    : undefined;
  if (!isNothing(currency) && currencyOf(currency) !== read.currency) return false;
  const text = numberText(inner);
  if (!isCertain && (text === null || !LIKE_MONEY.test(text))) return !saysNo(text ?? '');
  return read.amount !== null && amountOf(inner, read.currency, unit) === read.amount;
}

const saysNo = (text: string): boolean =>
  NO.has(foldWord(text)) || wordsOfName(text).some((word) => MUST_BE_FALSE.has(word));

/** The amount in an object: `{"value": 25}`, `{"NGN": 25}`. */
function innerOf(value: Json, { currency }: Read): Json {
  return isRecord(value) ? (value.value ?? value.amount ?? value.total ?? value[currency]) : value;
}

/** Whether these came to the amount together. Unless all of them can be read, they say nothing. */
function isSumEnough(values: readonly Json[], read: Read, unit: Dialect['amountUnit']): boolean {
  const parts = values.map((value) => amountOf(innerOf(value, read), read.currency, unit));
  const sum = parts.reduce((all, part) => (all === null || part === null ? null : all + part), 0n);
  return read.amount !== null && (sum === null || sum >= read.amount);
}

/** `25`, `25,00`, `NGN 25.00`: digits with at most a currency around them. No date with hyphens matches. */
const LIKE_MONEY = /^[+-]?[A-Z]{0,3}\s?[+-]?\d[\d., ]*(e[+-]?\d+)?\s?[A-Z]{0,3}$/i;

/**
 * Words that a service may well use for paid, beside the dialect's own. They prove no payment; they only
 * do not contradict a word that does.
 */
const SAME_AS_PAID = new Set(
  [
    'complete completed captured approved confirmed finished done settled processed ok true 00 000 200'.split(
      ' ',
    ),
    ['fully paid', 'paid in full', 'payment received'],
  ].flat(),
);

/** Where the field may hold more than a status, only a word that the dialect knows contradicts paid. */
function isWordAgainst(value: Json, dialect: Dialect): boolean {
  const text = stringOf(value);
  return !['paid', 'unknown'].includes(classOf(text, dialect)) || tellsTakenBack(text ?? '');
}

const HOW_MUCH = new Set(['partially', 'partial', 'fully', 'full']);

/** Only such words and no others: `partially_refunded`, `CHARGEBACK`, `payment reversal`. */
function tellsTakenBack(text: string): boolean {
  const words = wordsOfName(text).filter((word) => !WITH_FLAG.has(word) && !HOW_MUCH.has(word));
  return words.length > 0 && words.every((word) => TAKEN_BACK.has(word));
}

function isWordOfPaid(value: Json, dialect: Dialect): boolean {
  if (typeof value === 'boolean') return value;
  if (isRecord(value))
    return isWordOfPaid(value.status ?? value.state ?? value.code ?? value.name ?? 0, dialect);
  const word = numberText(value);
  return word !== null && (classOf(word, dialect) === 'paid' || SAME_AS_PAID.has(foldWord(word)));
}

/**
 * Attempts that failed before the one that paid are normal. A list contradicts the payment if no attempt
 * in it paid and kept the money, if those that did brought less, or if a refund is among the attempts.
 */
function isNonePaid(value: Json, read: Read, dialect: Dialect): boolean {
  if (!Array.isArray(value)) return false;
  const attempts = value.flatMap((one: Json) => {
    const word = isRecord(one) ? (one.status ?? one.state) : undefined;
    return isRecord(one) && !isNothing(word) ? [{ one, isPaid: isWordOfPaid(word, dialect) }] : [];
  });
  if (attempts.some(({ one, isPaid }) => isPaid && isRefund(one))) return true;
  const isAgainst = (one: Json, tells: readonly Claim['says']['tells'][]): boolean =>
    claimsOfAttempt(one).some(
      (claim) => tells.includes(claim.says.tells) && contradicts(claim, read, dialect),
    );
  const kept = attempts.filter(({ one, isPaid }) => isPaid && !isAgainst(one, ['taken back', 'currency']));
  if (kept.length === 0) return attempts.length > 0;
  if (kept.length === 1) return kept.some(({ one }) => isAgainst(one, ['amount']));
  const amounts = kept.map(({ one }) => one.amount).filter((amount) => !isNothing(amount));
  return amounts.length > 0 && !isSumEnough(amounts, read, dialect.amountUnit);
}

function isRefund(attempt: Record<string, Json>): boolean {
  return Object.entries(attempt).some(
    ([name, value]) => meaningOf(name)?.tells === 'kind' && tellsTakenBack(stringOf(value) ?? ''),
  );
}

function inWords({ pointer, says }: Claim): string {
  const field = `"${printable(pointer.slice(1).replaceAll('/', '.'))}"`;
  switch (says.tells) {
    case 'again':
      return `${field} disagrees with another field for the ${says.what}`;
    case 'amount':
    case 'currency':
      return `${field} disagrees with the ${says.tells}`;
    case 'kind':
    case 'taken back':
      return `${field} says that money went back or did not come`;
    case 'status':
    case 'attempts':
    case 'paid flag':
    case 'trouble flag':
      return `${field} disagrees with the status`;
  }
}

/** A name from outside, made printable for a person: 64 ASCII characters at most. */
export function printable(name: string): string {
  return name.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
}
