import { Router } from 'express';
import { sendPage } from '../../platform/html.tsx';
import { listFindings, resolveFinding } from '../../reconciliation/findings.ts';
import { isDecision } from '../../suspense/decision.ts';
import { assignSuspense, openSuspense, resolveSuspense } from '../../suspense/repository.ts';
import type { AdminParts } from '../admin-parts.ts';
import { deedHandler, frameOf } from '../deeds/answer.ts';
import { forEach, MAX_NAME, type DeedForm } from '../deeds/deed-form.ts';
import type { Told } from '../deeds/told.ts';
import { ageOfDays, filterParams, pageOf, readFilter } from './filter.ts';
import { FindingsPage } from './findings-page.tsx';
import { SuspensePage } from './suspense-page.tsx';

const ITEM_ID = /^\d{1,18}$/;

/** The two lists a person works through. Whatever is done is done by what the command line calls, too. */
export function workListRoutes(parts: AdminParts): Router {
  const { database, gateway, guard, form } = parts;
  const router = Router();
  const { mode } = gateway;
  const posted = [guard.requireLogin, form, guard.requireForm];
  const backTo = (address: string) => (_req: unknown, fields: URLSearchParams) => {
    const params = filterParams(readFilter(Object.fromEntries(fields)), null);
    return `${address}?${new URLSearchParams(params).toString()}`;
  };

  router.get('/admin/findings', guard.requireLogin, async (req, res) => {
    const findings = await listFindings(database, mode);
    const filter = readFilter(req.query);
    const classes = [...new Set(findings.map((finding) => finding.class))].sort();
    const frame = frameOf(guard, mode, req);
    sendPage(res, FindingsPage({ frame, filter, classes, ...pageOf(findings, filter) }));
  });
  router.post(
    '/admin/findings',
    ...posted,
    deedHandler(backTo('/admin/findings'), ({ ids, by, note }) =>
      forEach(ids.filter(isItemId), 'resolved', (id) => resolveFinding(database, mode, BigInt(id), by, note)),
    ),
  );

  router.get('/admin/suspense', guard.requireLogin, async (req, res) => {
    const open = await openSuspense(database, mode);
    const items = open.map((item) => ({ ...item, age: ageOfDays(item.ageDays) }));
    const filter = readFilter(req.query);
    const classes = [...new Set(items.map((item) => item.class))].sort();
    const frame = frameOf(guard, mode, req);
    sendPage(res, SuspensePage({ frame, filter, classes, ...pageOf(items, filter) }));
  });
  router.post(
    '/admin/suspense',
    ...posted,
    deedHandler(backTo('/admin/suspense'), (deed) =>
      deed.deed === 'assign' ? assign(parts, deed) : resolve(parts, deed),
    ),
  );
  return router;
}

async function assign({ database, gateway }: AdminParts, { ids, by, note, field }: DeedForm): Promise<Told> {
  const owner = field('owner')?.slice(0, MAX_NAME) ?? null;
  if (owner === null) return { 'no-owner': 1 };
  return forEach(ids.filter(isItemId), 'assigned', (id) =>
    assignSuspense(database, gateway.mode, BigInt(id), owner, by, note),
  );
}

async function resolve({ database, gateway }: AdminParts, { ids, by, note, field }: DeedForm): Promise<Told> {
  const decision = field('decision') ?? '';
  const refundNote = field('refund');
  if (!isDecision(decision) || (refundNote !== null && decision !== 'refund')) return { 'no-decision': 1 };
  return forEach(ids.filter(isItemId), 'resolved', (id) =>
    resolveSuspense(database, gateway.mode, BigInt(id), { by, note, decision, refundNote }),
  );
}

function isItemId(id: string): boolean {
  return ITEM_ID.test(id);
}
