import type { Queryable } from '../../platform/database/database.ts';
import { parseReference } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import { REFUSED_ROWS, refusedByMinute } from '../../webhooks/refused-webhooks.sql.ts';
import { dayOf, fitting } from '../layout/query.ts';
import type { WebhookList, WebhookSearch } from './webhook-list-page.tsx';
import { latestWebhooks, PAGE_ROWS, paymentsAmong, paymentsNamed } from './webhooks.sql.ts';

export const ROW_ID = /^\d{1,18}$/;
const MINUTE = /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\dZ [a-z-]{1,20}$/;

type Page = { list: WebhookList; search: WebhookSearch | null; next: string | null };

/** The page that a query asks for. What cannot be understood is ignored. */
export async function readList(db: Queryable, mode: Mode, query: Record<string, unknown>): Promise<Page> {
  const { reference, result, before } = query;
  if (result === 'refused') {
    const minute = fitting(before, MINUTE);
    return refusedPage(db, mode, dayOf(minute?.slice(0, 10)) && minute);
  }
  const name = typeof reference === 'string' ? reference.trim().slice(0, 255) : '';
  const search = name === '' ? null : { name, payments: await paymentsNamed(db, mode, name) };
  const rows = await latestWebhooks(db, {
    // A reference of the other mode, or an unknown one, has webhooks, too.
    references: search && [
      ...search.payments.map((payment) => payment.reference),
      ...[parseReference(name) ?? []].flat(),
    ],
    before: fitting(before, ROW_ID),
  });
  const next = rows.length > PAGE_ROWS ? String(rows[PAGE_ROWS - 1]?.id) : null;
  return { list: { result: 'kept', webhooks: rows.slice(0, PAGE_ROWS) }, search, next };
}

async function refusedPage(db: Queryable, mode: Mode, before: string | null): Promise<Page> {
  const minutes = await refusedByMinute(db, mode, before);
  const next = minutes.length > REFUSED_ROWS ? (minutes[REFUSED_ROWS - 1]?.key ?? null) : null;
  const references = minutes.flatMap(({ samples }) => samples.flatMap(({ reference }) => reference ?? []));
  const among = await paymentsAmong(db, mode, references);
  return {
    list: { result: 'refused', minutes: minutes.slice(0, REFUSED_ROWS), among },
    search: null,
    next,
  };
}
