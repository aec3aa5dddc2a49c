import type { VNode } from 'preact';
import {
  type RefusedLately,
  type RefusedMinute,
  REFUSED_ROWS,
  refusedByMinute,
} from '../../webhooks/refused-webhooks.sql.ts';
import { AdminPage, type Frame } from '../layout/frame.tsx';
import { Button, Field, Moment, Older, OrderLink, Table, Tabs } from '../layout/parts.tsx';
import {
  AboutOrder,
  RefusedLatelySection,
  RefusedTable,
  type Signature,
  resultOf,
} from './webhook-parts.tsx';
import {
  type FoundPayment,
  type WebhookRow,
  latestWebhooks,
  PAGE_ROWS,
  paymentsAmong,
  paymentsNamed,
} from './webhooks.sql.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { parseReference } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import { dayOf, fitting } from '../action-form.ts';

/** Either webhooks that were kept, or refused ones. */
type WebhookList =
  | { result: 'kept'; webhooks: readonly WebhookRow[] }
  | { result: 'refused'; minutes: readonly RefusedMinute[]; among: readonly FoundPayment[] };

/** A reference or an order id, and the payments of ours that it names. */
type WebhookSearch = { name: string; payments: readonly FoundPayment[] };

type Props = {
  frame: Frame;
  list: WebhookList;
  refusedLately: readonly RefusedLately[];
  signature: Signature;
  /** Null: no search. */
  search: WebhookSearch | null;
  next: string | null;
};

const ADDRESS = '/admin/webhooks';

export function WebhookListPage({ frame, list, refusedLately, signature, search, next }: Props): VNode {
  const isRefused = list.result === 'refused';
  return (
    <AdminPage frame={frame} title="Webhooks" here={ADDRESS}>
      <RefusedLatelySection refused={refusedLately} signature={signature} />
      <Tabs
        label="Which webhooks"
        tabs={[
          { name: 'Received', address: ADDRESS, isHere: !isRefused },
          { name: 'Refused', address: `${ADDRESS}?result=refused`, isHere: isRefused },
        ]}
      />
      {!isRefused && <SearchForm name={search?.name ?? ''} />}
      <p class="none">
        Newest first, times in UTC.{' '}
        {isRefused
          ? 'The newest few of each minute, kept for a week.'
          : 'We never trust a webhook’s content. It only makes us check with the service.'}
        {refusedLately.length === 0 && ' None was refused in the last hour.'}
      </p>
      {list.result === 'refused' ? <Refused {...list} /> : <Kept {...{ frame, list, search }} />}
      {next !== null && <Older address={ADDRESS} params={pageAfter(next, isRefused, search)} />}
    </AdminPage>
  );
}

function pageAfter(next: string, isRefused: boolean, search: Props['search']): Record<string, string> {
  return {
    ...(isRefused && { result: 'refused' }),
    ...(search !== null && { reference: search.name }),
    before: next,
  };
}

function SearchForm({ name }: { name: string }): VNode {
  return (
    <form method="get" action={ADDRESS} class="filters" role="search">
      <Field
        id="reference"
        label="Payment reference or order id"
        width="wide"
        name="reference"
        value={name}
        autocomplete="off"
        spellcheck={false}
      />
      <Button>Search</Button>
    </form>
  );
}

function Refused({ minutes, among }: Extract<WebhookList, { result: 'refused' }>): VNode {
  if (minutes.length === 0) return <p class="none">No webhook was refused in the last week.</p>;
  return <RefusedTable minutes={minutes} payments={among} />;
}

type KeptProps = Pick<Props, 'frame' | 'search'> & { list: Extract<WebhookList, { result: 'kept' }> };

function Kept({ frame, list: { webhooks }, search }: KeptProps): VNode {
  if (webhooks.length === 0 && search === null) return <p class="none">No webhook has come yet.</p>;
  if (webhooks.length === 0) return <NoneFound search={search} />;
  const hasOtherMode = webhooks.some(({ mode }) => mode !== frame.mode);
  return (
    <Table
      label="Webhooks"
      head={['When', 'About order', { words: 'Result' }, ...(hasOtherMode ? ['Mode'] : [])]}
      rows={webhooks.map((webhook) => [
        <a href={`${ADDRESS}/${webhook.id}`}>
          <Moment at={webhook.receivedAt} />
        </a>,
        <AboutOrder {...webhook} />,
        resultOf(webhook),
        ...(hasOtherMode ? [webhook.mode] : []),
      ])}
    />
  );
}

const FOUND_BY: Readonly<Record<NonNullable<FoundPayment['cause']>, string>> = {
  return: 'found when the shopper came back, at',
  webhook: 'found by a webhook that is not kept any more, at',
  hint: 'found after a hint (a webhook, a return or a person’s request) at',
  schedule: 'found by our own check at',
  reconciliation: 'found by a reconciliation at',
  operator: 'found when a person asked the service, at',
};

function NoneFound({ search }: Pick<Props, 'search'>): VNode {
  const payments = search?.payments ?? [];
  if (payments.length === 0) return <p class="none">No payment or order of ours is “{search?.name}”.</p>;
  return (
    <>
      {payments.map(({ reference, orderId, paidAt, cause }) => (
        <p key={reference}>
          No webhook came for this payment
          {paidAt === null || cause === null ? (
            <>, and it has not been paid. </>
          ) : (
            <>
              ; it was {FOUND_BY[cause]} <Moment at={paidAt} />.{' '}
            </>
          )}
          Order <OrderLink id={orderId} />
        </p>
      ))}
    </>
  );
}

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
