import type { Request } from 'express';
import { sendPage } from '../../platform/html.tsx';
import { Problem } from '../../platform/problem.ts';
import type { ActionForm } from '../action-form.ts';
import { type AdminParts, sendCsv } from '../pages.ts';
import { actOnCases, parseKey } from './actions.ts';
import { latestCaseOf } from './case-records.sql.ts';
import { readCases, type CaseKey, type CaseRow, type Wanted } from './cases.sql.ts';
import { addressOf } from './decide-form.tsx';
import { filterParams, readFilter, wantedBy, type CaseFilter } from './filter.tsx';
import { askFirst, show } from './show.ts';
import { DEFAULT_LOCALE } from '../../platform/locale.ts';
import type { Sheet } from '../../platform/csv.ts';
import type { Queryable } from '../../platform/database/database.ts';
import type { Mode } from '../../platform/mode.ts';
import { formatMajor, minorDigits } from '../../platform/money.ts';
import { customerOf } from './case-parts.tsx';
import { heldMoney, textOf } from './case-advice.ts';

/** What waits for a person. The actions call the same functions as the command line. */
export function caseRoutes(parts: AdminParts): void {
  const { database, gateway, guard, router, act, accept } = parts;
  const { mode } = gateway;
  const decide = (filled: ActionForm) => actOnCases({ database, mode, accept }, filled);

  for (const old of ['/admin/findings', '/admin/suspense'])
    router.get(old, guard.requireLogin, (req, res) => {
      res.redirect(302, listAddress(readFilter(req.query)));
    });
  router.get('/admin/cases', guard.requireLogin, async (req, res) => {
    const list = readFilter(req.query);
    const named = req.query.told === undefined ? await caseNamed(list.q) : null;
    if (named === null) sendPage(res, await show(parts, req, { list }));
    else res.redirect(303, addressOf(named));
  });
  router.get('/admin/cases.csv', guard.requireLogin, (req, res) =>
    sendCsv(res, `to-do-${mode}`, caseSheet(database, mode, wantedBy(readFilter(req.query)))),
  );
  router.get('/admin/cases/:name', guard.requireLogin, async (req, res) => {
    sendPage(res, await show(parts, req, { name: keyIn(req) }));
  });

  act(
    '/admin/cases',
    (_req, fields) => listAddress(listIn(fields.get('list'))),
    decide,
    (filled, req) =>
      askFirst(parts, req, filled, { address: '/admin/cases', view: { list: listIn(filled.field('list')) } }),
  );
  act(
    '/admin/cases/:name',
    (req) => addressOf(keyIn(req)),
    decide,
    (filled, req) => {
      const name = keyIn(req);
      return askFirst(parts, req, filled, { address: addressOf(name), view: { name } });
    },
  );

  /** A search for an order or a reference shows its case, also when it is closed. */
  async function caseNamed(id: string | null): Promise<CaseKey | null> {
    const latest = id === null ? null : await latestCaseOf(database, mode, id);
    if (latest === null) return null;
    const open = await readCases(database, mode, { words: id }, { limit: 2 });
    return open.length > 1 ? null : (open[0] ?? latest);
  }
}

/** @throws {Problem} 404 for what names no case */
function keyIn(req: Request): CaseKey {
  const key = parseKey(String(req.params.name));
  if (key === null) throw new Problem('not-found');
  return key;
}

/** The part of the list from which a form was sent. */
function listIn(params: string | null): CaseFilter {
  return readFilter(Object.fromEntries(new URLSearchParams(params ?? '')));
}

/** From its first page on. */
function listAddress(filter: CaseFilter): string {
  return `/admin/cases?${new URLSearchParams(filterParams(filter, null)).toString()}`;
}

const COLUMNS = [
  ...(['kind', 'customer', 'what', 'held', 'currency', 'since', 'owner', 'order_id', 'reference'] as const),
];
type Row = Record<(typeof COLUMNS)[number], string | null>;
const PAGE = 1_000;

/** The list as a table for a spreadsheet: amounts in major units, customers masked. */
function caseSheet(db: Queryable, mode: Mode, wanted: Wanted): Sheet<keyof Row> {
  async function* rows(): AsyncGenerator<Row> {
    for (let after: string | null = null, page: CaseRow[] | null = null; page?.length !== 0;) {
      page = await readCases(db, mode, wanted, { after, limit: PAGE });
      for (const row of page) yield rowOf(row);
      after = page.at(-1)?.place ?? after;
    }
  }
  return { columns: COLUMNS, rows: rows() };
}

function rowOf(row: CaseRow): Row {
  const { title, sentence } = textOf(row, DEFAULT_LOCALE);
  const held = heldMoney(row);
  const isKnown = held !== null && minorDigits(held.currency) !== null;
  return {
    kind: title,
    customer: customerOf(row),
    what: sentence,
    held: isKnown ? formatMajor(held) : null,
    currency: held?.currency ?? null,
    since: row.since.toISOString(),
    owner: row.owner,
    order_id: row.orderId,
    reference: row.reference,
  };
}
