import { LosslessNumber } from 'lossless-json';

import { kindOf } from './kind.ts';
import { feeOf, longNumber, majorNumber, plus, received, valueObject } from './shapes/amounts.ts';
import { afterId, byNumber, byOffset } from './shapes/paging.ts';
import { hmac, SHA256_BASE64, SHA256_HEX, SHA512_BASE64 } from './shapes/signing.ts';
import { unixSeconds } from './shapes/times.ts';

/*
 * Services whose records are unlike others': what is named how, which of several amounts is the one that came, and
 * how it is written.
 */

/** Numbers that a double cannot hold: a program that parses them as floats confuses two ids. */
const bigId = (id: string): LosslessNumber =>
  new LosslessNumber(
    `9${Buffer.from(id)
      .readBigUInt64BE(id.length - 8)
      .toString()}`,
  );

export const twoReferences = kindOf({
  title: 'Two references',
  kind: 'A switch between banks: a reference of its own beside ours, ids too large for a double.',
  words: { paid: 'Approved', pending: 'Initiated', abandoned: 'Initiated', reversed: 'Reversed' },
  at: '/transaction',
  url: '/paymentUrl',
  fine: { responseCode: '00' },
  bad: { responseCode: '25' },
  record: ({ id, reference, createdAt }, status, amount) => ({
    id: bigId(id),
    reference: `NIP${id}`,
    merchantReference: reference,
    status,
    amount: majorNumber(amount),
    currency: amount.currency,
    date: createdAt,
  }),
  names: { reference: '/merchantReference' },
  list: {
    at: '/transactions',
    page: (list, query) =>
      byOffset(list, query, {
        ...{ skipParam: 'offset', sizeParam: 'limit', size: 20, maxSize: 50, tooLarge: 'is clamped' },
      }),
    told: ({ total }) => ({ totalRecords: total }),
  },
  hook: {
    body: (notification) => ({ notification }),
    sign: (secret, body) => ({ 'x-auth-signature': hmac(secret, body, SHA512_BASE64) }),
  },
});

export const askedAndReceived = kindOf({
  title: 'Asked and received',
  kind: 'Success whatever came: the amount is what was asked for, and what came stands beside it.',
  at: '',
  record: (transaction, status, { currency }) => ({
    ...{ id: transaction.id, reference: transaction.reference, status },
    amount: majorNumber(transaction.asked),
    amountReceived: majorNumber(received(transaction)),
    currency,
    createdAt: transaction.createdAt,
  }),
  names: { amount: '/amountReceived' },
  list: {
    at: '/data',
    page: (list, query) =>
      byNumber(list, query, {
        ...{
          pageParam: 'page',
          first: 1,
          sizeParam: 'limit',
          size: 20,
          maxSize: 100,
          tooLarge: 'is clamped',
        },
      }),
    told: ({ page, pageCount }) => ({
      // The host is the one that the service has behind its proxy.
      links: { next: page < pageCount ? `http://10.0.0.7/v1/transactions/history?page=${page + 1}` : null },
    }),
  },
});

export const feesOnTop = kindOf({
  title: 'Fees on top',
  kind: 'The shopper bears the fee: the amount is with it, in texts of the smallest unit, ids and keys in small letters.',
  unit: 'minor',
  words: { paid: 'captured', pending: 'created', abandoned: 'created', reversed: 'refunded' },
  at: '/charge',
  url: '/charge/hosted_url',
  fine: { result: 'ok' },
  bad: { result: 'error' },
  record: ({ id, reference, createdAt }, status, amount) => ({
    id,
    reference,
    status,
    amount: plus(amount, feeOf(amount)).minor.toString(),
    base_amount: amount.minor.toString(),
    fee: feeOf(amount).minor.toString(),
    currency: amount.currency.toLowerCase(),
    created: unixSeconds(createdAt),
  }),
  names: { amount: '/base_amount' },
  list: {
    at: '/charges',
    page: (list, query) =>
      afterId(list, query, {
        ...{ afterParam: 'after', sizeParam: 'per_page', size: 20, maxSize: 100, tooLarge: 'is refused' },
      }),
    told: ({ hasMore }) => ({ has_more: hasMore }),
  },
  hook: {
    body: (charge) => ({ type: 'charge', charge }),
    sign: (secret, body) => ({ 'x-signature': `hmac-sha256=${hmac(secret, body, SHA256_BASE64)}` }),
  },
});

export const twoShapes = kindOf({
  title: 'Two shapes',
  kind: 'Verify and list by two teams: {value, currency} and our reference here, flat names of their own there.',
  words: { paid: 'Paid', pending: 'Open', abandoned: 'Open', failed: 'Declined', reversed: 'Refunded' },
  record: ({ id, reference }, status, amount) => ({ id, reference, status, amount: valueObject(amount) }),
  names: { amount: '/amount/value', currency: '/amount/currency' },
  list: {
    at: '/data/items',
    row: ({ id, reference }, state, amount) => ({
      ...{ uuid: id, order: reference, state },
      ...{ sum: majorNumber(amount), ccy: amount.currency.toLowerCase() },
    }),
    page: (list, query) =>
      byNumber(list, query, {
        ...{
          pageParam: 'page',
          first: 1,
          sizeParam: 'limit',
          size: 20,
          maxSize: 100,
          tooLarge: 'is clamped',
        },
      }),
    told: ({ total }) => ({ meta: { total: String(total) } }),
  },
});

export const longDecimals = kindOf({
  title: 'Four decimals',
  kind: 'A ledger of four decimals for every currency, cursors beside the rows, signatures in a list of its own names.',
  words: { paid: 'Succeeded', pending: 'Pending', abandoned: 'Pending' },
  record: ({ id, reference }, status, amount) => ({
    ...{ id, reference, status },
    amount: longNumber(amount),
    currency: amount.currency,
  }),
  list: {
    at: '/data',
    page: (list, query) =>
      afterId(list, query, {
        ...{ afterParam: 'page_token', sizeParam: 'size', size: 20, maxSize: 100, tooLarge: 'is clamped' },
      }),
    told: ({ rows, hasMore }) => ({ next_page_token: hasMore ? (rows.at(-1)?.id ?? '') : '' }),
  },
  hook: {
    sign: (secret, body, at) => {
      const ts = unixSeconds(at.toISOString());
      return { 'x-signature': `ts=${ts}, sig=${hmac(secret, `${ts}.${body}`, SHA256_HEX)}` };
    },
  },
});
