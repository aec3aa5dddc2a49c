import { defaultDialect } from '../../support/dialect.ts';
import type { ProfileName } from '../../../local/sandbox/profiles/all.ts';

/** What a shop would write into its dialect file for each service; merged over the defaults. */
const { paid, pending, failed, reversed } = defaultDialect.statuses;

export const PROFILE_DIALECTS: Record<ProfileName, object> = {
  plain: { history: { paging: { newestFirstBy: '/createdAt' } } },
  'minor-units': {
    amountUnit: 'minor',
    history: { paging: { sizeParam: 'perPage', newestFirstBy: '/created_at' } },
    webhook: { signature: { algorithm: 'sha512' } },
    transfers: {
      path: '/v1/transfer',
      records: ['/data'],
      reference: ['/reference'],
      amount: ['/amount'],
      currency: ['/currency'],
      status: ['/status'],
    },
  },
  aggregator: {
    history: { paging: { sizeParam: 'size', newestFirstBy: '/created_at' } },
    webhook: { signature: { scheme: 'static', header: 'x-secret-hash' } },
  },
  'virtual-accounts': {
    initialize: { checkoutUrl: ['/responseBody/checkoutUrl'] },
    verify: {
      record: ['/responseBody'],
      reference: ['/paymentReference'],
      status: ['/paymentStatus'],
      amount: ['/amountPaid'],
    },
    // Money came: whether it is enough is for the amount to say, not for a word.
    statuses: { paid: [...paid, 'overpaid', 'partially paid'], pending },
    history: {
      records: ['/responseBody/content'],
      paging: { style: 'page', firstPage: 0, sizeParam: 'size' },
    },
    webhook: {
      reference: ['/eventData/paymentReference'],
      signature: { algorithm: 'sha512' },
      acknowledgement: 200,
    },
  },
  'value-objects': {
    initialize: { checkoutUrl: ['/_links/checkout/href'] },
    history: {
      records: ['/payments'],
      paging: { style: 'link', nextLink: ['/_links/next/href'], newestFirstBy: '/createdAt' },
    },
    webhook: { signature: null },
  },
  'payment-links': {
    amountUnit: 'minor',
    initialize: { checkoutUrl: ['/short_url'] },
    verify: { reference: ['/reference_id'] },
    statuses: { pending: [...pending, 'created'] },
    history: {
      records: ['/items'],
      paging: { style: 'offset', pageParam: 'skip', sizeParam: 'count', newestFirstBy: '/created_at' },
    },
    webhook: { reference: ['/reference_id'], signature: { prefix: 'sha256=' } },
  },
  invoices: {
    initialize: { checkoutUrl: ['/invoice_url'] },
    verify: {
      reference: ['/order_id'],
      status: ['/payment_status'],
      amount: ['/actually_paid'],
      currency: ['/price_currency'],
    },
    statuses: {
      paid: [...paid, 'finished', 'partially paid'],
      pending: [...pending, 'waiting', 'confirming'],
    },
    history: { paging: { style: 'page', firstPage: 0 } },
    webhook: { reference: ['/order_id'], signature: null },
  },
  sessions: {
    amountUnit: 'minor',
    initialize: { checkoutUrl: ['/url'] },
    verify: { reference: ['/client_reference_id'], status: ['/payment_status'], amount: ['/amount_total'] },
    history: {
      paging: {
        style: 'cursor',
        cursorParam: 'starting_after',
        cursorFromRow: '/id',
        newestFirstBy: '/created',
      },
    },
    webhook: {
      reference: ['/data/object/client_reference_id'],
      signature: { list: {}, signs: 'timestamp.body' },
    },
  },
  capitals: {
    initialize: { checkoutUrl: ['/data/payments/redirectLink'] },
    statuses: { paid: [...paid, 'completed'] },
    history: { paging: { style: 'offset', pageParam: 'skip', sizeParam: 'take', size: 50 } },
    webhook: { reference: ['/Data/Reference'], signature: { encoding: 'base64' } },
  },
  'date-window': {
    history: { paging: { style: 'none', sinceParam: 'from', untilParam: 'to', windowDays: 30 } },
  },
  wallets: {
    statuses: {
      paid: [...paid, 'completed'],
      failed: [...failed, 'failed/cancelled'],
      reversed: [...reversed, 'refund pending'],
    },
    history: { paging: { style: 'cursor', nextCursor: ['/pagination/next'], newestFirstBy: '/createdAt' } },
    webhook: { signature: { signs: 'timestamp.body', timestampHeader: 'x-timestamp' } },
  },
  brackets: {
    statuses: { paid: [...paid, 'complete'] },
    history: {
      paging: {
        style: 'page',
        pageParam: 'page[number]',
        sizeParam: 'page[size]',
        newestFirstBy: '/created_at',
      },
    },
    webhook: { signature: { algorithm: 'sha512' } },
  },
  attempts: {
    history: { paging: { style: 'none' } },
    webhook: { signature: { encoding: 'base64' } },
  },
  'two-references': {
    initialize: { checkoutUrl: ['/paymentUrl'] },
    verify: { record: ['/transaction'], reference: ['/merchantReference'] },
    statuses: { paid: [...paid, 'approved'] },
    history: {
      records: ['/transactions'],
      paging: { style: 'offset', pageParam: 'offset', size: 50, newestFirstBy: '/date' },
    },
    webhook: {
      reference: ['/notification/merchantReference'],
      signature: { header: 'x-auth-signature', algorithm: 'sha512', encoding: 'base64' },
    },
  },
  'asked-and-received': {
    verify: { amount: ['/amountReceived'] },
    history: { paging: { newestFirstBy: '/createdAt' } },
  },
  'fees-on-top': {
    amountUnit: 'minor',
    initialize: { checkoutUrl: ['/charge/hosted_url'] },
    verify: { record: ['/charge'], amount: ['/base_amount'] },
    statuses: { paid: [...paid, 'captured'], pending: [...pending, 'created'] },
    history: {
      records: ['/charges'],
      paging: {
        style: 'cursor',
        cursorParam: 'after',
        sizeParam: 'per_page',
        cursorFromRow: '/id',
        newestFirstBy: '/created',
      },
    },
    webhook: {
      reference: ['/charge/reference'],
      signature: { encoding: 'base64', prefix: 'hmac-sha256=' },
    },
  },
  'two-shapes': {
    history: {
      records: ['/data/items'],
      ...{ reference: ['/order'], status: ['/state'], amount: ['/sum'], currency: ['/ccy'] },
    },
  },
  'four-decimals': {
    history: {
      paging: {
        ...{ style: 'cursor', cursorParam: 'page_token', nextCursor: ['/next_page_token'] },
        sizeParam: 'size',
      },
    },
    webhook: { signature: { list: { timestamp: 'ts', signature: 'sig' }, signs: 'timestamp.body' } },
  },
  'oldest-first': {
    statuses: { pending: [...pending, 'new'] },
    history: { records: ['/data/rows'], paging: { style: 'page', pageParam: 'p', sizeParam: 'n' } },
  },
  journal: {
    initialize: { checkoutUrl: ['/entry/checkout'] },
    verify: { record: ['/entry'] },
    statuses: { paid: [...paid, 'posted'], failed: [...failed, 'rejected'] },
    history: { paging: { style: 'cursor', cursorParam: 'since_id', cursorFromRow: '/id' } },
  },
  'late-list': {
    statuses: { paid: [...paid, 'completed'], pending: [...pending, 'created'] },
    history: {
      records: ['/data/transactions'],
      lagSec: 5,
      paging: {
        style: 'page',
        pageParam: 'pageNumber',
        firstPage: 0,
        sizeParam: 'pageSize',
        newestFirstBy: '/createdAt',
      },
    },
    webhook: { signature: { header: 'x-webhook-signature', algorithm: 'sha512' } },
  },
  'paged-days': {
    statuses: { failed: [...failed, 'unsuccessful'] },
    history: {
      paging: {
        ...{ style: 'page', size: 25, sinceParam: 'startDate', untilParam: 'endDate', windowDays: 30 },
        windowFormat: 'date',
      },
    },
  },
  'good-news-only': {
    history: { paging: { style: 'none' } },
    webhook: { signature: { header: 'x-webhook-signature', prefix: 'v1:' } },
  },
};
