import { createHmac } from 'node:crypto';
import type { Style } from './service.ts';

const number = (query: URLSearchParams, name: string) => Number(query.get(name) ?? '0');
const mac = (secret: string, signed: string, algorithm = 'sha256') => createHmac(algorithm, secret).update(signed);
const hex = (secret: string, signed: string) => mac(secret, signed).digest('hex');

/** Eight unusual services. The name in brackets is the adapter's. */
export const STYLES = {
  'bare records, a list in one piece, webhooks without a signature (plain)': {
    opened: (url) => ({ data: url }),
    record: ({ isPaid, reference, amount, currency }) => {
      return { reference, status: isPaid ? 'paid' : 'open', amount, currency };
    },
    page: (rows) => rows,
  },
  'an envelope with a status of its own, words in title case (enveloped)': {
    opened: (url) => ({ status: true, data: { authorization_url: url } }),
    record: ({ isPaid, ...more }) => ({ ...more, status: isPaid ? 'Successful' : 'Pending' }),
    verified: (data) => ({ status: true, message: 'Found', data }),
    unknown: [200, { status: false, message: 'Not found' }],
    start: (query) => (number(query, 'page') - 1) * 2,
    page: (data, next) => ({ status: true, data, meta: { hasNext: next !== null } }),
    event: ([one]) => ({ event: 'Payment Successful', data: one }),
    sign: (body, secret) => ({ 'x-signature': mac(secret, body, 'sha512').digest('hex') }),
  },
  'minor units deep inside, a base64 signature over a time and the body (nested)': {
    tote: 850_000,
    opened: (url) => ({ response: { links: [{ rel: 'self' }, { rel: 'checkout', href: url }] } }),
    record: ({ id, isPaid, reference, amount, currency }) => {
      const payment = { id, state: isPaid ? 'CAPTURED' : 'CREATED', order: { reference, amount, currency } };
      return { session: { state: 'CLOSED' }, payment };
    },
    verified: (response) => ({ response }),
    unknown: [400, { response: null, errors: ['unknown order'] }],
    start: (query) => number(query, 'cursor'),
    page: (content, next) => ({ response: { content, next } }),
    sign: (body, secret, s) => ({ 'x-time': `${s}000`, 'x-sign': mac(secret, `${s}000.${body}`).digest('base64') }),
    isTimed: true,
  },
  'amounts as texts with six decimals, a success flag "00", the secret itself in a header (decimals)': {
    opened: (url) => ({ code: '00', payUrl: url }),
    record: ({ id, isPaid, reference: txRef, amount, currency }) => {
      return { code: '00', id, txRef, state: isPaid ? 'DONE' : 'IN REVIEW', amount: amount.toFixed(6), currency };
    },
    unknown: [200, { code: '25', text: 'unable to locate record' }],
    start: (query) => number(query, 'skip'),
    page: (list) => ({ code: '00', list }),
    sign: (_body, secret) => ({ 'verif-hash': secret }),
  },
  'verify answers with a list of one, webhooks are forms, and only OK acknowledges them (single)': {
    opened: (url) => ({ link: url }),
    record: ({ id, isPaid, reference: tx_ref, amount, currency }) => {
      return { transaction_id: Number(id.slice(4)), tx_ref, status: isPaid ? 'success' : 'new', amount, currency };
    },
    verified: (record) => [record],
    unknown: [200, []],
    start: (query) => number(query, 'start'),
    page: (results, next) => ({ results, next: next && `https://elsewhere.example/list?start=${next}` }),
    isForm: true,
    acknowledged: { status: 200, body: 'OK' },
    sign: (body, secret) => ({ 'x-hub-signature': `sha256=${hex(secret, body)}` }),
  },
  'a list of signatures and a time, minor units, a cursor that is the last row (listed)': {
    tote: 850_000,
    opened: (url) => ({ object: 'session', url }),
    record: ({ id, isPaid, reference: client_reference_id, amount: amount_total, currency }) => {
      const status = isPaid ? 'succeeded' : 'requires_payment_method';
      return { id, client_reference_id, status, amount_total, currency: currency.toLowerCase() };
    },
    start: (query, rows) => rows.findIndex((row) => (row as { id: string }).id === query.get('starting_after')) + 1,
    page: (data, next) => ({ object: 'list', data, has_more: next !== null }),
    sign: (body, secret, s) => ({ sig: `t=${s},v1=${hex('of another key', body)},v1=${hex(secret, `${s}.${body}`)}` }),
    isTimed: true,
  },
  'references in capitals, in verify, history, webhook and return (capitals)': {
    opened: (url) => ({ data: { checkoutUrl: url } }),
    record: ({ id: ID, isPaid, reference: REFERENCE, amount: AMOUNT, currency: CURRENCY }) => {
      return { ID, REFERENCE, STATUS: isPaid ? 'PAID' : 'PENDING', AMOUNT, CURRENCY };
    },
    verified: (record) => ({ DATA: record }),
    start: (query) => (number(query, 'page') - 1) * 2,
    page: (rows) => ({ DATA: rows }),
    sign: (body, secret) => ({ 'x-signature': hex(secret, body).toUpperCase() }),
    echo: (reference) => reference.toUpperCase(),
  },
  'several events in a webhook, amounts with their currency inside, pages from 0 (several)': {
    opened: (url) => ({ _links: { checkout: { href: url } } }),
    record: ({ id, isPaid, reference, amount, currency }) => {
      const events = [{ status: 'Created' }, ...(isPaid ? [{ status: 'Paid' }] : [])];
      return { id, merchantReference: reference, amount: { value: amount.toFixed(2), currency }, events };
    },
    verified: (payment) => ({ payment }),
    start: (query) => number(query, 'page') * 2,
    page: (payments) => ({ payments }),
    event: (all) => ({ batch: { items: all.map((one) => ({ merchantReference: one.reference })) } }),
    sign: (body, secret) => ({ 'x-signature': hex(secret, body) }),
  },
} satisfies Record<string, Style>;
