import type { Request } from 'express';
import type { VNode } from 'preact';
import { Problem } from '../../platform/problem.ts';
import { type ActionForm, sentencesOf } from '../action-form.ts';
import { frameOf, type AdminParts, type ShopperText } from '../pages.ts';
import { decisionIn, readSelected, readTicks } from './actions.ts';
import { CaseListPage } from './case-list-page.tsx';
import { CasePage } from './case-page.tsx';
import { recordsOf, referencesOf } from './case-records.sql.ts';
import { countCases, readCases, type CaseKey, type CaseRow } from './cases.sql.ts';
import { ConfirmPage, type Closing } from './confirm-page.tsx';
import { PAGE_ROWS, wantedBy, type CaseFilter } from './filter.tsx';
import { resolveSuspense } from '../../cases/suspense.sql.ts';
import type { Order } from '../../orders/order.ts';
import { findOrder } from '../../orders/orders.sql.ts';
import { recordAcceptance } from '../../payments/accept.sql.ts';
import type { Queryable } from '../../platform/database/database.ts';

/** A part of the list, or one case. */
type View = { list: CaseFilter } | { name: CaseKey };

/** @param typed a form that is shown again, with what it had */
export function show(
  parts: AdminParts,
  req: Request,
  view: View,
  typed: ActionForm | null = null,
): Promise<VNode> {
  return 'list' in view ? showList(parts, req, view.list, typed) : showCase(parts, req, view.name, typed);
}

async function showList(
  parts: AdminParts,
  req: Request,
  filter: CaseFilter,
  typed: ActionForm | null,
): Promise<VNode> {
  const { database, gateway } = parts;
  const wanted = wantedBy(filter);
  const [found, counts] = await Promise.all([
    readCases(database, gateway.mode, wanted, { after: filter.after, limit: PAGE_ROWS + 1 }),
    countCases(database, gateway.mode, wanted),
  ]);
  return CaseListPage({ frame: frameFor(parts, req, typed), filter, found, counts, typed });
}

/** @throws {Problem} 404 when there never was such a case */
async function showCase(
  parts: AdminParts,
  req: Request,
  name: CaseKey,
  typed: ActionForm | null,
): Promise<VNode> {
  const { database, gateway } = parts;
  const [known] = await referencesOf(database, gateway.mode, [name]);
  if (known === undefined) throw new Problem('not-found');
  const { reference } = known;
  const [row = null] = await readCases(database, gateway.mode, { references: [reference] }, { limit: 1 });
  const records = await recordsOf(database, gateway.mode, reference);
  return CasePage({ frame: frameFor(parts, req, typed), name, reference, row, records, typed });
}

/** With the reason why a form is shown again. */
function frameFor({ guard, gateway }: AdminParts, req: Request, typed: ActionForm | null) {
  const frame = frameOf(guard, gateway.mode, req);
  const isIncomplete = typed !== null && typed.field('back') === null;
  return isIncomplete ? { ...frame, told: sentencesOf('no-decision:1') } : frame;
}

/**
 * The page before something is closed, or the form again when it is not complete or the person came back to
 * it.
 * @param address where the form is sent; null is returned when it may be acted upon at once
 */
export async function askFirst(
  parts: AdminParts,
  req: Request,
  form: ActionForm,
  { address, view }: { address: string; view: View },
): Promise<VNode | null> {
  const { database, gateway, guard } = parts;
  const { operation, field } = form;
  if (operation !== 'resolve' && operation !== 'close') return null;
  const isDecision = operation === 'resolve';
  if (field('back') !== null || (isDecision && decisionIn(form) === null))
    return show(parts, req, view, form);
  if (field('sure') === 'yes') return null;
  const { cases } = await readSelected(database, gateway.mode, readTicks(form.ids));
  const closings: Closing[] = [];
  for (const row of cases.filter(({ held }) => (held !== null) === isDecision))
    closings.push({ row, preview: isDecision ? await previewOf(parts, row, form) : null });
  if (closings.length === 0) return null;
  return ConfirmPage({ frame: frameOf(guard, gateway.mode, req), address, form, closings });
}

/** Carries the text out of the transaction that it takes back. */
class Preview extends Error {
  readonly text: ShopperText | null;
  constructor(text: ShopperText | null) {
    super('a decision was tried and taken back');
    this.text = text;
  }
}

/**
 * What the shopper will read after a decision. The decision is made, read and taken back: the database itself
 * says what it leads to.
 * @returns null when no order is concerned, the case has changed, or the shop's pages are its own
 */
async function previewOf(
  { database, shopperText }: Pick<AdminParts, 'database' | 'shopperText'>,
  row: CaseRow,
  form: ActionForm,
): Promise<ShopperText | null> {
  const { orderId } = row;
  if (orderId === null || shopperText === null) return null;
  try {
    return await database.transaction(async (tx) => {
      const order = await findOrder(tx, orderId);
      const after = order && (await decide(tx, row, form, order)) ? await findOrder(tx, orderId) : null;
      throw new Preview(after && (await shopperText(tx, after)));
    });
  } catch (error) {
    if (error instanceof Preview) return error.text;
    throw error;
  }
}

async function decide(tx: Queryable, row: CaseRow, form: ActionForm, order: Order): Promise<boolean> {
  const decided = decisionIn(form);
  if (decided === null) return false;
  const { decision, refundNote } = decided;
  const { by, note } = form;
  return decision === 'accept'
    ? recordAcceptance(
        tx,
        order.mode,
        { id: row.id, by, note },
        { id: order.releaseId, delivery: 'unneeded' },
      )
    : resolveSuspense(tx, order.mode, row.id, { by, note, decision, refundNote }, row.moneyVersion);
}
