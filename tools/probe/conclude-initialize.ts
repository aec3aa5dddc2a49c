import { minorDigits } from '../../src/platform/money.ts';
import { acceptCheckoutUrl } from '../../src/gateway/initialize.ts';
import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import { at, firstAt, stringOf, type Json } from '../../src/gateway/dialect/json-pointer.ts';
import { finding, quoted, type Conclusion, type Words } from './finding.ts';
import type { Observed } from './observed.ts';
import { commonPlaces } from './places.ts';

/** Where the address of the checkout stands, and in which unit the service counts. */
export function concludeInitialize(observed: Observed, dialect: Dialect, words: Words): Conclusion {
  const address = concludeAddress(observed, dialect, words);
  const unit = concludeUnit(observed, dialect, words);
  return {
    findings: [...address.findings, ...unit.findings],
    needs: [...address.needs, ...unit.needs],
  };
}

/** Addresses that a shopper may be sent to, and that are another one for each payment. */
export function addressesIn({ sent }: Pick<Observed, 'sent'>): string[] {
  const documents = sent.map(({ opened }) => opened.json);
  const places = commonPlaces(documents, (value, index) => {
    const text = stringOf(value);
    return text !== null && text !== sent[index]?.redirectUrl && isAddress(text);
  });
  return places.filter((place) => new Set(documents.map((one) => at(one, place))).size === sent.length);
}

function isAddress(text: string): boolean {
  return acceptCheckoutUrl(text, { mode: 'test', hosts: [] }) !== null;
}

function concludeAddress(observed: Observed, dialect: Dialect, words: Words): Conclusion {
  const key = 'initialize.checkoutUrl';
  const inForce = dialect.initialize.checkoutUrl;
  const documents: Json[] = observed.sent.map(({ opened }) => opened.json);
  const places = addressesIn(observed);
  const told = words[key];
  const chosen = told !== undefined && places.includes(told) ? [told] : places;
  const isRead = documents.every((document) => {
    const read = firstAt(document, inForce, stringOf);
    return read !== null && chosen.some((place) => at(document, place) === read);
  });
  if (chosen.length === 0)
    return {
      findings: [finding(key, 'cannot tell', 'no address of a page in the answer', inForce)],
      needs: [],
    };
  if (chosen.length > 1) {
    const verdict = isRead ? 'cannot tell' : 'differs';
    const question = 'which of these is the address of the checkout page?';
    const findings = [finding(key, verdict, `one of ${quoted(chosen)}`, inForce)];
    return { findings, needs: [{ key, question, choices: chosen }] };
  }
  const seen = finding(key, isRead ? 'agrees' : 'differs', quoted(chosen), inForce);
  return { findings: [{ ...seen, ...(!isRead && { change: chosen }) }], needs: [] };
}

function concludeUnit(
  { currency, decimalsRefused, unitSent, sent }: Observed,
  dialect: Dialect,
  words: Words,
): Conclusion {
  const key = 'amountUnit';
  const inForce = dialect.amountUnit;
  if (minorDigits(currency) === 0)
    return one('cannot tell', `${currency} has no decimals: both units are the same`);
  if (unitSent === 'major') {
    // Smallest units have no decimals: whoever takes these and shows them again counts in major units.
    if (sent.every(({ before, amount }) => showsDecimals(before.text, amount)))
      return one(
        inForce === 'major' ? 'agrees' : 'differs',
        'major: an amount with decimals came back as it was sent',
        'major',
      );
    return one('cannot tell', 'an amount with decimals was taken, and did not come back as it was sent');
  }
  const told = words[key];
  if (told === 'minor')
    return one(inForce === 'minor' ? 'agrees' : 'differs', 'minor, as you said of the page', 'minor');
  const refusal = `decimals are refused (HTTP ${String(decimalsRefused?.status)}), whole numbers are taken`;
  if (told === 'major')
    return one(
      'differs',
      `${refusal}, and they are major units, as you said: this service cannot be asked for decimals`,
    );
  const need = {
    key,
    question: `we asked for ${String(sent[0]?.amount)}: what does the checkout page show, that many smallest units of ${currency} or whole ${currency}?`,
    choices: ['minor', 'major'],
  };
  const { findings } = one(inForce === 'minor' ? 'cannot tell' : 'differs', refusal);
  return { findings, needs: [need] };

  function one(verdict: 'agrees' | 'differs' | 'cannot tell', seen: string, change?: string): Conclusion {
    const is = finding(key, verdict, seen, inForce);
    return {
      findings: [{ ...is, ...(verdict === 'differs' && change !== undefined && { change }) }],
      needs: [],
    };
  }
}

function showsDecimals(text: string, amount: bigint): boolean {
  return /\d\.\d*[1-9]/.test(text) && text.replace(/[.]/g, '').includes(String(amount));
}
