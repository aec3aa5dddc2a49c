import type { Request } from 'express';
import { sendPage } from '../../platform/html.tsx';
import { Problem } from '../../platform/problem.ts';
import type { ActionForm } from '../actions/action-form.ts';
import type { AdminParts } from '../admin-parts.ts';
import { sendCsv } from '../layout/download.ts';
import { actOnCases } from './actions.ts';
import { latestCaseOf } from './case-records.sql.ts';
import { caseSheet } from './case-sheet.ts';
import { readCases, type CaseKey } from './cases.sql.ts';
import { addressOf } from './decide-form.tsx';
import { filterParams, readFilter, wantedBy, type CaseFilter } from './filter.ts';
import { parseKey } from './selection.ts';
import { askFirst, show } from './show.ts';

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
