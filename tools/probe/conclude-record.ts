import { parseMajor } from '../../src/platform/money.ts';
import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import { findRecord, readEvidence } from '../../src/gateway/records/evidence.ts';
import { at, numberText, stringOf, type Json } from '../../src/gateway/dialect/json-pointer.ts';
import { classOf, concludeWords } from './conclude-words.ts';
import { finding, quoted, type Conclusion, type Finding, type Need, type Words } from './finding.ts';
import type { Observed } from './observed.ts';
import { commonPlaces, isNothing, isWord, parentOf } from './places.ts';

type Field = 'reference' | 'amount' | 'currency' | 'status';

/** Where the record stands in verify's answers, and which of its fields hold what we know. */
export function concludeRecord(observed: Observed, dialect: Dialect, words: Words): Conclusion {
  const befores = observed.sent.map(({ before }) => before.json);
  const places = commonPlaces(befores, (value, index) => value === observed.sent[index]?.reference);
  const [place] = places;
  if (place === undefined) {
    const seen = 'our reference stands nowhere in the answers to verify';
    return { findings: [finding('verify.record', 'cannot tell', seen, dialect.verify.record)], needs: [] };
  }
  const found = findRecord(befores[0], dialect.verify.record)?.pointer;
  // The record itself, and not an envelope around it: rows of the history are read with the same pointers.
  const isKept = found !== undefined && places.some((one) => parentOf(one) === found);
  const record = isKept ? found : parentOf(place);
  const record$: Finding = {
    ...finding('verify.record', isKept ? 'agrees' : 'differs', quoted([record]), dialect.verify.record),
    ...(!isKept && { change: [record] }),
  };
  const inRecord = (document: Json): Json => at(document, record);
  const view: View = {
    observed,
    dialect,
    words,
    befores: befores.map(inRecord),
    after: observed.after === null ? null : inRecord(observed.after.json),
  };
  const fields = (['reference', 'amount', 'currency', 'status'] as const).map((name) =>
    concludeField(view, name),
  );
  const status = fields[3]?.chosen ?? null;
  const spoken = concludeWords(
    {
      before: wordAt(view.befores[0], status),
      now: wordAt(view.after, status),
      isSaidPaid: observed.isSaidPaid,
    },
    dialect,
    words,
  );
  return {
    findings: [record$, ...fields.map((one) => one.finding), ...spoken.findings],
    needs: [...fields.flatMap((one) => one.needs), ...spoken.needs],
  };
}

function wordAt(record: Json, place: string | null): string | null {
  return place === null ? null : stringOf(at(record, place));
}

type View = {
  observed: Observed;
  dialect: Dialect;
  words: Words;
  befores: readonly Json[];
  after: Json;
};

/** Each place of the record that may be the field: it held what we know in every answer. */
function candidatesFor(view: View, name: Field): string[] {
  const { observed, befores, after } = view;
  const { sent, currency } = observed;
  const isMoney = (value: Json, amount: bigint | undefined): boolean =>
    amount !== undefined && minorOf(value, observed) === amount;
  switch (name) {
    case 'reference':
      return commonPlaces(befores, (value, index) => value === sent[index]?.reference);
    case 'currency':
      return commonPlaces(befores, (value) => stringOf(value)?.toUpperCase() === currency);
    case 'amount': {
      const asked = commonPlaces(befores, (value, index) => isMoney(value, sent[index]?.amount));
      if (after === null) return asked;
      const then = commonPlaces([after], (value) => isMoney(value, sent[0]?.amount));
      // What showed nothing before and all of it afterwards came with the money.
      const came = then.filter((place) => isNothing(at(befores[0], place)));
      return [...asked.filter((place) => then.includes(place)), ...came];
    }
    case 'status':
      return statusPlaces(view);
  }
}

function concludeField(view: View, name: Field): { finding: Finding; needs: Need[]; chosen: string | null } {
  const candidates = candidatesFor(view, name);
  const key = `verify.${name}`;
  const inForce = view.dialect.verify[name];
  const used = inForce.find((pointer) => usable(view, name, pointer)) ?? null;
  const told = view.words[key];
  if (told !== undefined && candidates.includes(told)) {
    const isSame = told === used;
    const said = finding(key, isSame ? 'agrees' : 'differs', `${told}, as you said`, inForce);
    return { finding: { ...said, ...(!isSame && { change: [told] }) }, needs: [], chosen: told };
  }
  const reads = used !== null && candidates.includes(used);
  if (candidates.length === 1) {
    const seen = finding(key, reads ? 'agrees' : 'differs', quoted(candidates), inForce);
    const change = reads ? {} : { change: candidates };
    return { finding: { ...seen, ...change }, needs: [], chosen: candidates[0] ?? null };
  }
  if (candidates.length === 0) {
    const verdict = name === 'status' && view.after === null ? 'cannot tell' : reads ? 'agrees' : 'differs';
    const seen = name === 'status' ? 'no word changed' : `no field holds the ${name} that we know`;
    return { finding: finding(key, verdict, seen, inForce), needs: [], chosen: used };
  }
  const need: Need = { key, question: QUESTIONS[name], choices: candidates };
  const verdict = reads ? 'cannot tell' : 'differs';
  return {
    finding: finding(key, verdict, `one of ${quoted(candidates)}`, inForce),
    needs: [need],
    chosen: reads ? used : null,
  };
}

const QUESTIONS: Record<Field, string> = {
  reference: 'which field is the reference that we sent?',
  amount:
    'which field is the money that came in, without fees? (They show the same; a payment of less would part them.)',
  currency: 'which field is the currency of the money that came in?',
  status: 'which field tells how far the money is, and not the page or the call?',
};

/** Whether the pointer reads something of the field's kind, so that the integrator would stop at it. */
function usable({ befores, dialect }: View, name: Field, pointer: string): boolean {
  const [record] = befores;
  const evidence = readEvidence(record, { ...dialect.verify, [name]: [pointer] }, dialect, 'NGN');
  return name === 'status'
    ? evidence.statusWord !== null
    : evidence[name].is === 'read' || numberText(at(record, pointer)) !== null;
}

/** The same word in every unpaid record, and another one in the paid record. */
function statusPlaces({ befores, after, observed, dialect }: View): string[] {
  const steady = commonPlaces(befores, isWord).filter((place) =>
    befores.every((record) => at(record, place) === at(befores[0], place)),
  );
  if (after !== null) {
    const changed = steady.filter(
      (place) => isWord(at(after, place)) && at(after, place) !== at(befores[0], place),
    );
    if (changed.length > 0 || observed.isSaidPaid) return changed;
  }
  // Nobody paid: a word that the dialect knows as pending is all that can be recognised.
  return steady.filter(
    (place) => dialect.verify.status.includes(place) && classOf(dialect, at(befores[0], place)) === 'pending',
  );
}

/** Minor units of an amount in the unit in which the service took ours. */
export function minorOf(value: Json, { unitSent, currency }: Observed): bigint | null {
  const text = numberText(value);
  if (text === null) return null;
  if (unitSent === 'major') return parseMajor(text, currency);
  return /^\d{1,18}$/.test(text) ? BigInt(text) : null;
}
