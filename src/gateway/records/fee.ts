import type { Dialect } from '../dialect/dialect.ts';
import { firstAt, readJson, type Json } from '../dialect/json-pointer.ts';
import { findRecord } from './evidence.ts';
import { feeOf } from './field-values.ts';

/**
 * The fee that a stored answer of verify names where the dialect looks for it (`history.fee`).
 * @returns minor units of `currency`; null: the dialect or the answer names none, or it cannot be read
 */
export function feeOfAnswer(body: Buffer, currency: string, dialect: Dialect): bigint | null {
  const { verify, history, amountUnit } = dialect;
  let document: Json;
  try {
    document = readJson(body);
  } catch {
    return null;
  }
  const found = findRecord(document, verify.record);
  return found && firstAt(found.record, history.fee ?? [], (value) => feeOf(value, currency, amountUnit));
}
