import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import { at, firstAt, stringOf, type Json } from '../../src/gateway/dialect/json-pointer.ts';
import { finding, quoted, type Conclusion, type Finding, type Words } from './finding.ts';
import type { Observed } from './observed.ts';
import { placesOf } from './places.ts';

/** Where the list stands, what it must be asked, and how its pages are turned. */
export function concludeHistory(
  { history, sent }: Observed,
  dialect: Dialect,
  {
    words,
    reference,
  }: { words: Words; /** Of verify's record, as it was found. */ reference: readonly string[] },
): Conclusion {
  const ours = sent.map((payment) => payment.reference);
  const { bare, records, window, paging } = history;
  if (records === null) {
    const seen = `none of our payments in the answers (HTTP ${String(bare.status)})`;
    return {
      findings: [finding('history.records', 'cannot tell', seen, dialect.history.records)],
      needs: [],
    };
  }
  const list = dialect.history.records.find((pointer) => Array.isArray(at(bare.json, pointer)));
  const isRead = window === null ? list === records : dialect.history.records.includes(records);
  const found: Finding = {
    ...finding('history.records', isRead ? 'agrees' : 'differs', quoted([records]), dialect.history.records),
    ...(!isRead && { change: [records] }),
  };
  const turned = paging?.next ?? null;
  const pages =
    turned === null ? unknownPaging(dialect, words) : knownPaging(dialect, { ...turned, ...sizeOf(paging) });
  return {
    findings: [
      found,
      rowFinding(history.rows, ours, dialect, reference),
      ...windowFindings(window, dialect),
      ...pages.findings,
    ],
    needs: pages.needs,
  };
}

function rowFinding(
  rows: readonly Json[],
  ours: readonly string[],
  dialect: Dialect,
  asInVerify: readonly string[],
): Finding {
  const key = 'history.reference';
  const inForce = dialect.history.reference ?? asInVerify;
  const places = placesOf(rows[0], (value) => typeof value === 'string' && ours.includes(value));
  const isRead = rows.every((row) => ours.includes(firstAt(row, inForce, stringOf) ?? ''));
  const shown = dialect.history.reference ?? 'as in verify';
  if (isRead) return finding(key, 'agrees', quoted(places), shown);
  return { ...finding(key, 'differs', quoted(places), shown), change: places };
}

type Keys = Dialect['history']['paging'];

function sizeOf(paging: Observed['history']['paging']): Partial<Keys> {
  return paging === null ? {} : { sizeParam: paging.sizeParam };
}

function knownPaging(dialect: Dialect, seen: Partial<Keys>): Conclusion {
  const inForce = dialect.history.paging;
  const findings = Object.entries(seen).map(([name, value]): Finding => {
    const has = inForce[name as keyof Keys];
    const isSame =
      JSON.stringify(has) === JSON.stringify(value) ||
      // auto goes where the answer leads, and counts pages where it leads nowhere.
      (name === 'style' && has === 'auto' && value !== 'offset' && seen.cursorFromRow === undefined) ||
      (Array.isArray(has) && Array.isArray(value) && value.every((one) => (has as unknown[]).includes(one)));
    const about = `history.paging.${name}`;
    return {
      ...finding(about, isSame ? 'agrees' : 'differs', JSON.stringify(value), has),
      ...(!isSame && { change: value }),
    };
  });
  return { findings, needs: [] };
}

function unknownPaging(dialect: Dialect, words: Words): Conclusion {
  const key = 'history.paging.style';
  const inForce = dialect.history.paging.style;
  if (words[key] === 'none') {
    const said = finding(
      key,
      inForce === 'none' ? 'agrees' : 'differs',
      'the list is whole, as you said',
      inForce,
    );
    return { findings: [{ ...said, ...(inForce !== 'none' && { change: 'none' }) }], needs: [] };
  }
  const seen = 'no parameter that we know makes the list smaller and turns its pages';
  const question =
    'is the history always listed whole, however long it is? Write "none" only if the service says so in writing.';
  return {
    findings: [finding(key, 'cannot tell', seen, inForce)],
    needs: [{ key, question, choices: ['none'] }],
  };
}

function windowFindings(window: Observed['history']['window'], dialect: Dialect): Finding[] {
  if (window === null) return [];
  const seen: Partial<Keys> = {
    sinceParam: window.sinceParam,
    untilParam: window.untilParam,
    windowDays: dialect.history.paging.windowDays ?? window.days,
  };
  return knownPaging(dialect, seen).findings;
}
