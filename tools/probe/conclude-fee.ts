import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import { at } from '../../src/gateway/dialect/json-pointer.ts';
import { minorOf } from './conclude-record.ts';
import { finding, quoted, type Conclusion, type Words } from './finding.ts';
import type { Observed } from './observed.ts';
import { isOneOf, placesOf } from './places.ts';

/**
 * The fee that the service keeps of a paid payment. A name is a hint; that a field of the record shows what is left of
 * the amount proves it, unless another one shows the fee on top of it.
 */
export function concludeFee(observed: Observed, dialect: Dialect, words: Words): Conclusion {
  const key = 'history.fee';
  const inForce = dialect.history.fee;
  const [paid] = observed.sent;
  const row = observed.history.walked.rows.find(
    (one) => paid !== undefined && isOneOf(one, [paid.reference]),
  );
  if (paid === undefined || row === undefined || !observed.isSaidPaid)
    return {
      findings: [finding(key, 'cannot tell', 'no paid payment was seen in the history', inForce)],
      needs: [],
    };
  const amount = paid.amount;
  const moneyAt = (place: string): bigint | null => minorOf(at(row, place), observed);
  const named = placesOf(row, () => true).filter((place) => NAME.test(place));
  const fees = named.filter((place) => isBetween(moneyAt(place), amount));
  const has = (money: bigint): boolean =>
    placesOf(row, (value) => minorOf(value, observed) === money).length > 0;
  const isShown = (place: string, sign: -1n | 1n): boolean => has(amount + sign * (moneyAt(place) ?? 0n));
  const proven = fees.filter((place) => isShown(place, -1n) && !isShown(place, 1n));
  const one = (
    verdict: 'agrees' | 'differs' | 'cannot tell' | 'noted',
    seen: string,
    change?: string[],
  ): Conclusion => ({
    findings: [{ ...finding(key, verdict, seen, inForce), ...(change !== undefined && { change }) }],
    needs: [],
  });
  const used = inForce?.find((place) => moneyAt(place) !== null);
  if (used !== undefined) return one('agrees', `${quoted([used])} shows an amount`);
  if (fees.length === 0)
    return one(
      'cannot tell',
      named.length === 0 ? 'no field is named like a fee' : `${quoted(named)} shows no fee`,
    );
  if (fees.every((place) => isShown(place, 1n) && !isShown(place, -1n)))
    return one('agrees', `${quoted(fees)} comes on top: another field shows the amount with it`);
  const told = words[key];
  if (told === 'none') return one('agrees', 'nothing is taken off the amount, as you said');
  const chosen = told === undefined ? proven : fees.filter((place) => place === told);
  if (chosen.length === 1) {
    const why = told === undefined ? 'another field shows the amount without it' : 'as you said';
    return one('differs', `${quoted(chosen)}: ${why}`, chosen);
  }
  const question = 'which field is the fee that the service takes off the amount? "none": none of them.';
  return {
    ...one('cannot tell', `${quoted(fees)} may be taken off the amount, or come on top`),
    needs: [{ key, question, choices: [...fees, 'none'] }],
  };
}

const NAME = /(fees?|commission|charges?|deductions?|mdr)([_/]?(amount|value|total))?$/i;

function isBetween(fee: bigint | null, amount: bigint): boolean {
  return fee !== null && fee > 0n && fee < amount;
}
