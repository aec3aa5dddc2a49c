import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import { at, numberText, type Json } from '../../src/gateway/dialect/json-pointer.ts';
import { millisecondsOf } from '../../src/gateway/webhook.ts';
import { newestFirstFinding, orderOf } from './conclude-order.ts';
import { concludeRows } from './conclude-rows.ts';
import { finding, quoted, type Conclusion, type Finding, type Words } from './finding.ts';
import type { Observed } from './observed.ts';
import type { PagingSeen } from './paging.ts';
import { placesOf } from './places.ts';
import type { Walked } from './walk.ts';

/** Where the list stands, what it must be asked, how its pages are turned and how its records look. */
export function concludeHistory(
  observed: Observed,
  dialect: Dialect,
  { words, read }: { words: Words; /** The dialect in force with what verify showed. */ read: Dialect },
): Conclusion {
  const { history, sent } = observed;
  const { bare, records, window, paging, walked } = history;
  if (records === null || walked.rows.length === 0) {
    const pages = walked.pages > 1 ? ` on ${walked.pages} pages` : '';
    const seen = `none of our payments in the answers (HTTP ${String(bare.status)})${pages}`;
    const turned = paging?.next === null ? [] : pagingFindings(paging, dialect);
    return {
      findings: [finding('history.records', 'cannot tell', seen, dialect.history.records), ...turned],
      needs: [],
    };
  }
  const list = dialect.history.records.find((pointer) => Array.isArray(at(bare.json, pointer)));
  const isRead = window === null ? list === records : dialect.history.records.includes(records);
  const found: Finding = {
    ...finding('history.records', isRead ? 'agrees' : 'differs', quoted([records]), dialect.history.records),
    ...(!isRead && { change: [records] }),
  };
  const isTurned = (paging?.next ?? null) !== null;
  const pages = isTurned
    ? { findings: pagingFindings(paging, dialect), needs: [] }
    : unknownPaging(observed, dialect, words);
  const fields = concludeRows(observed, dialect, read);
  const order = orderOf(
    walked.rows,
    sent.map(({ reference }) => reference),
  );
  const pages$ = walked.pages === 1 ? 'one page' : `${walked.pages} pages`;
  const place = `${walked.rows.length} records on ${pages$} that were read${order === null ? '' : `, the ${order} first`}`;
  return {
    findings: [
      found,
      ...fields,
      ...windowFindings(window, dialect),
      ...pages.findings,
      newestFirstFinding(observed, dialect),
      finding('our payments in the history', 'noted', place),
      lagFinding(history, dialect),
      reachFinding(walked, dialect, observed.askedAt),
    ],
    needs: pages.needs,
  };
}

/** The program allows for a quarter of an hour where the dialect names no lag. */
const USUAL_LAG_SEC = 15 * 60;

function lagFinding({ listedSec, agreedSec }: Observed['history'], dialect: Dialect): Finding {
  const key = 'history.lagSec';
  const inForce = dialect.history.lagSec;
  const lag = agreedSec ?? listedSec ?? 0;
  const seen =
    agreedSec === null
      ? `listed ${lag} s after verify knew them; a payment was not seen to become paid there`
      : `listed as verify says ${lag} s after verify did, or earlier`;
  const isTooSmall = lag > (inForce ?? USUAL_LAG_SEC);
  return {
    ...finding(key, isTooSmall ? 'differs' : 'agrees', seen, inForce),
    ...(isTooSmall && { change: null }),
  };
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/** From the field of our own records that holds the time at which they were opened. */
function reachFinding({ rows, edges }: Walked, dialect: Dialect, askedAt: Date): Finding {
  const key = 'history.reachesBackDays';
  const inForce = dialect.history.reachesBackDays;
  const ageOf = (value: Json): number => askedAt.getTime() - timeOf(value);
  const place = placesOf(rows[0], (value) => Math.abs(ageOf(value)) < DAY_MS)[0];
  const ages = place === undefined ? [] : edges.map((row) => ageOf(at(row, place)));
  const days = Math.floor(Math.max(...ages.filter((age) => !Number.isNaN(age)), 0) / DAY_MS);
  if (days === 0) return finding(key, 'cannot tell', 'no record of an earlier day was seen', inForce);
  const isTooSmall = inForce !== null && inForce !== 0 && inForce < days;
  const seen = `at least ${days === 1 ? 'one day' : `${days} days`}: so old is the oldest record that was seen`;
  return {
    ...finding(key, isTooSmall ? 'differs' : 'agrees', seen, inForce),
    ...(isTooSmall && { change: null }),
  };
}

function timeOf(value: Json): number {
  const text = numberText(value) ?? '';
  const ms = millisecondsOf(text);
  return Number.isNaN(ms) && /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : ms;
}

type Keys = Dialect['history']['paging'];

function pagingFindings(paging: PagingSeen | null, dialect: Dialect): Finding[] {
  if (paging === null) return [];
  const { sizeParam, size, next } = paging;
  return keyFindings(dialect, {
    ...next,
    ...(sizeParam !== null && { sizeParam }),
    ...(size !== undefined && { size }),
  });
}

function keyFindings(dialect: Dialect, seen: Partial<Keys>): Finding[] {
  const inForce = dialect.history.paging;
  return Object.entries(seen).map(([name, value]): Finding => {
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
}

/** What turns the pages was not seen: the list may be whole, too short to tell, or turned by a name that is not ours. */
function unknownPaging({ history, sent }: Observed, dialect: Dialect, words: Words): Conclusion {
  const key = 'history.paging.style';
  const inForce = dialect.history.paging.style;
  const { paging, walked, calls } = history;
  const size = paging?.sizeParam ?? null;
  const tried = calls.made < calls.max ? 'no name that we know' : 'no name that the calls allowed to try';
  const count = `${walked.page.length} record${walked.page.length === 1 ? '' : 's'}`;
  if (size !== null || walked.rows.length < sent.length) {
    const some = `${walked.rows.length} of our ${sent.length} payments are listed: the others are not, or behind a page`;
    const what = size === null ? some : `"${size}" makes a page smaller`;
    const seen = `${what}; ${tried} turns it. Write the name into the dialect file: it is tried first`;
    return {
      findings: [finding(key, 'cannot tell', seen, inForce), ...pagingFindings(paging, dialect)],
      needs: [],
    };
  }
  if (words[key] === 'none') {
    const isSame = inForce === 'none';
    const said = finding(key, isSame ? 'agrees' : 'differs', 'the list is whole, as you said', inForce);
    return { findings: [{ ...said, ...(!isSame && { change: 'none' }) }], needs: [] };
  }
  const seen = `${count} came at once, and ${tried} makes them fewer: they may be all or the first page`;
  const question =
    'is the list always whole? Ask the provider, or run again with --payments 120, more than a page holds. ' +
    'Write "none" only if the service says so in writing.';
  return {
    findings: [finding(key, 'cannot tell', seen, inForce)],
    needs: [{ key, question, choices: ['none'] }],
  };
}

function windowFindings(window: Observed['history']['window'], dialect: Dialect): Finding[] {
  return window === null ? [] : keyFindings(dialect, window);
}
