import { readFileSync } from 'node:fs';
import type { Reading, ServiceAdapter } from '../../src/gateway/adapter.ts';
import { evidenceOf, type Evidence, type Raw } from '../../src/gateway/evidence.ts';
import { formatMajor, type Money } from '../../src/platform/money.ts';

/**
 * A part that the adapter did not read, as a sentence, and the part of the adapter's file to
 * change.
 */
export type Fault = { what: string; where: string };
/** The request for our payment. Our record repeats it. */
export type Asked = { reference: string; money: Money };
/**
 * `lines` shows each part of a record and what it is read as. `evidence` is null if the record
 * cannot be read.
 */
export type Read = { isOurs: boolean; evidence: Evidence | null; lines: string[]; faults: Fault[] };

/**
 * Reads a record of verify or a row of the history as the program does, and compares it with the
 * request.
 */
export function readRecord(adapter: ServiceAdapter, record: unknown, asked: Asked, raw: Raw): Read {
  const nothing = (what: string) => ({ isOurs: false, evidence: null, lines: [], faults: [{ what, where: 'read' }] });
  try {
    const reading = adapter.read(record);
    if (reading === null) return nothing('the record is not read at all');
    const evidence = evidenceOf(reading, { reference: asked.reference, mode: 'test' }, adapter, raw);
    const isOurs = reading.reference?.toLowerCase() === asked.reference;
    const lines = linesOf(reading, evidence, isOurs);
    return { isOurs, evidence, lines, faults: faultsIn(reading, evidence, asked.money) };
  } catch (error) {
    return nothing(`reading the record throws: ${String(error)}`);
  }
}

function linesOf(reading: Reading, evidence: Evidence, isOurs: boolean): string[] {
  const { amount, refunded, currency, outcome, doubt } = evidence;
  const money = (value: bigint | null): string =>
    value === null || currency === null ? 'not read' : moneyText({ amount: value, currency });
  const parts: [name: string, given: unknown, taken: string][] = [
    ['reference', reading.reference, isOurs ? 'ours' : 'not ours'],
    ['status', reading.word, outcome],
    ['amount', reading.amount, money(amount)],
    ['currency', reading.currency, currency ?? 'not read'],
    ['refunded', reading.refunded, money(refunded)],
    ['id', reading.id, 'the charge'],
    ['mode', reading.mode, `${reading.mode ?? ''} mode`],
    ['doubt', doubt, 'it proves nothing'],
  ];
  return parts.map(
    ([name, given, taken]) => `${name}: ${given == null ? 'none' : `${JSON.stringify(given)} -> ${taken}`}`,
  );
}

function faultsIn(reading: Reading, { amount, currency, outcome, doubt }: Evidence, money: Money): Fault[] {
  const isOther = currency !== null && currency !== money.currency;
  const isWrong = currency !== null && !isOther && amount !== null && amount !== money.amount;
  const wrong = isWrong ? moneyText({ amount, currency }) : '';
  const all: [isSo: boolean, what: string, where: string][] = [
    [reading.reference === null, 'no reference is read', 'read'],
    [outcome === 'unknown', `"${reading.word}" is neither paid nor pending nor failed: name it`, 'classOf'],
    [doubt !== null, `it proves nothing: ${doubt ?? ''}`, 'read'],
    [isOther, `the currency is read as ${currency ?? ''}, and ${money.currency} was asked for`, 'read'],
    [isWrong, `the amount is read as ${wrong}, and ${moneyText(money)} was asked for`, 'amountUnit'],
  ];
  return all.flatMap(([isSo, what, where]) => (isSo ? [{ what, where }] : []));
}

/** `NGN 25.00 (2500 minor units)`. */
export function moneyText(money: Money): string {
  return `${money.currency} ${formatMajor(money)} (${money.amount} minor units)`;
}

/**
 * The file and the line where a part of the adapter begins.
 * @param path of its file; null: the default one
 */
export function placeOf(part: string, path: string | null): string {
  const source = readFileSync(path ?? new URL('../../src/custom/service.ts', import.meta.url), 'utf8');
  const index = source.split('\n').findIndex((line) => new RegExp(`^\\s*(const )?${part}\\b`).test(line));
  return `${part} in ${path ?? 'src/custom/service.ts'}${index === -1 ? '' : `, line ${index + 1}`}`;
}

/** A text of the service that neither controls nor floods the terminal. */
export function visible(text: string, length = 300): string {
  const printable = text.replace(/\p{Cc}+/gu, ' ').trim();
  return printable.length > length ? `${printable.slice(0, length)} … (${text.length} characters)` : printable;
}
