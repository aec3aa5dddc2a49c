import { claimsOf, type Claim } from '../../records/claims.ts';
import { contradicts } from '../../records/contradictions.ts';
import type { Dialect } from '../../dialect/dialect.ts';
import type { RowPointers } from '../row-parser.ts';
import { isRecord, type Json } from '../../dialect/json-pointer.ts';
import { KIND, type RecordLayout, type ValueKind } from './record-template.ts';

/**
 * Whether a row that says paid holds, in the fields that might contradict it, only values that
 * certainly do not: null, the same bytes as the field that it has to agree with, or the same bytes as
 * the sample, which was parsed.
 */
export type RowChecks = (bytes: Buffer) => boolean;

type Check = {
  slot: number;
  /** The slot whose value it has to repeat; null: none. */
  repeats: number | null;
  mayBeNull: boolean;
  /** The field holds the kind of the record, of which there are many. */
  isKind: boolean;
  /** `true` means only that money came. */
  mayBeTrue: boolean;
  /** The sample's value, if it does not contradict the sample itself. */
  known: { kind: ValueKind; bytes: Buffer } | null;
};

type Slots = Record<keyof RowPointers, number>;
const NOTHING_READ = { amount: null, currency: '', reference: null, mode: null };

/**
 * @param layout has just matched `sample`, whose parsed form is `record`
 * @returns null when no row of this layout can contradict itself: no field repeats what another says
 */
export function createChecks(
  layout: RecordLayout,
  sample: Buffer,
  record: Json,
  slots: Slots,
  pointers: RowPointers,
  dialect: Dialect,
): RowChecks | null {
  const claims = claimsOf(record, pointers);
  if (claims.length === 0) return null;
  const checks = claims.flatMap((claim) => checksOf(claim, layout, sample, slots, dialect));
  return (bytes) => {
    for (const check of checks) if (!holds(check, layout, bytes)) return false;
    return true;
  };
}

function checksOf(
  claim: Claim,
  layout: RecordLayout,
  sample: Buffer,
  slots: Slots,
  dialect: Dialect,
): Check[] {
  const { says, value } = claim;
  const what = says.tells === 'again' ? says.what : says.tells;
  const ofMoney = what === 'amount' || what === 'currency' || what === 'reference' ? what : null;
  // The parts of an object have a meaning only together.
  const isWhole = !isRecord(value) && !Array.isArray(value);
  // With a unit or a currency of its own, the same bytes are not the same money.
  const isPlain = says.tells !== 'amount' || (says.currency === null && !says.isMinor);
  const isSampleSound = ofMoney === null && !contradicts(claim, NOTHING_READ, dialect);
  return layout.slotsIn(claim.pointer).map((slot) => ({
    slot,
    repeats: ofMoney !== null && isWhole && isPlain ? slots[ofMoney] : null,
    mayBeNull: isWhole,
    isKind: says.tells === 'kind',
    mayBeTrue: isWhole && says.tells === 'amount',
    known: isSampleSound
      ? {
          kind: layout.kind(slot),
          bytes: Buffer.from(sample.subarray(layout.from(slot), layout.to(slot))),
        }
      : null,
  }));
}

/** Parts of a record's kind that may mean a refund; such a record is parsed. */
const MAY_TELL =
  /refund|rever|disput|back|return|recall|revok|void|cancel|unpaid|underpa|outstand|shortfall/i;
const [N, T] = [0x6e, 0x74]; // as in null and true

function holds(check: Check, layout: RecordLayout, bytes: Buffer): boolean {
  const { slot, repeats, known } = check;
  const kind = layout.kind(slot);
  const from = layout.from(slot);
  const to = layout.to(slot);
  if (kind === KIND.WORD && check.mayBeNull && bytes[from] === N) return true;
  if (kind === KIND.WORD && check.mayBeTrue && bytes[from] === T) return true;
  if (check.isKind) return kind !== KIND.OTHER_TEXT && !MAY_TELL.test(bytes.toString('latin1', from, to));
  if (known?.kind === kind && isSame(known.bytes, 0, known.bytes.length, bytes, from, to)) return true;
  if (repeats === null || (kind !== KIND.NUMBER && kind !== KIND.PLAIN_TEXT)) return false;
  return isSame(bytes, layout.from(repeats), layout.to(repeats), bytes, from, to);
}

// The values are short: a loop is faster than Buffer.compare.
export function isSame(
  a: Buffer,
  aFrom: number,
  aTo: number,
  b: Buffer,
  bFrom: number,
  bTo: number,
): boolean {
  if (aTo - aFrom !== bTo - bFrom) return false;
  for (let at = 0; at < aTo - aFrom; at += 1) if (a[aFrom + at] !== b[bFrom + at]) return false;
  return true;
}
