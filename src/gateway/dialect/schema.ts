import { z } from 'zod';
import { minorDigits } from '../../platform/money.ts';

/**
 * What the service's reference does not specify, as data. The comment at each default says whether the
 * reference shows the value or we assume it, and what happens when the assumption is wrong. A shop
 * overrides single keys in a JSON file. docs/what-the-reference-leaves-open.md says the same key by
 * key, with how to check and change each.
 */

/**
 * RFC 6901 pointers, tried in order; the first that finds a usable value is read. In a record that says
 * paid, another pointer that finds a different value contradicts it, and a field named in a file
 * outweighs its siblings: docs/what-we-believe.md.
 */
const pointers = z.array(pointerText()).min(1);
const words = z.array(z.string().min(1));
const parameter = z.string().min(1);

function pointerText() {
  return z.string().regex(/^(\/([^~/]|~[01])*)*$/, 'must be a JSON pointer: "" or "/name/name"');
}

// All assumed: the reference shows no signature. Wrong, and secrets are set: every webhook answers 401,
// and payments are found only by the shopper's return and the scheduled checks. Wrong without secrets:
// no effect, webhooks are unsigned hints.
const signatureSchema = z.strictObject({
  // hmac: a digest of the body. static: the header holds the secret itself. Wrong: 401, as above.
  scheme: z.enum(['hmac', 'static']).default('hmac'),
  // Wrong: 401, as above.
  header: z.string().min(1).default('x-signature'),
  // Wrong: 401, as above.
  algorithm: z.enum(['sha256', 'sha512']).default('sha256'),
  // hex is read in either case, base64 and base64url in either alphabet. Wrong: 401, as above.
  encoding: z.enum(['hex', 'base64', 'base64url']).default('hex'),
  // The text before the digest, like `sha256=`. Wrong: 401, as above.
  prefix: z.string().default(''),
  // The names of the entries, where the header is a list like `t=1700000000,v1=…`, with commas or
  // semicolons. Null: it is one value. Wrong: 401, as above.
  list: z
    .strictObject({ timestamp: parameter.default('t'), signature: parameter.default('v1') })
    .nullable()
    .default(null),
  // The parts of the signed text, in this order. Wrong: 401, as above.
  signs: z.enum(['body', 'timestamp.body', 'body.timestamp', 'id.timestamp.body']).default('body'),
  // Between the parts; may be empty. Wrong: 401, as above.
  separator: z.string().default('.'),
  // The header that holds the signed time, in seconds, in milliseconds or as a date; with `list`, the
  // time is an entry of the list. Wrong: 401, as above.
  timestampHeader: z.string().nullable().default(null),
  // The header that holds the signed id. Wrong: 401, as above.
  idHeader: z.string().nullable().default(null),
  // Seconds by which a signed time may differ from now. Too small: retried webhooks answer 401. Too
  // large: old webhooks may be replayed, which costs a call and gains the attacker nothing.
  toleranceSec: z.int().positive().default(300),
});

// The reference says that transfers and balances exist, but not where, so there is no default. Wrong:
// nothing else is affected.
const listing = z.strictObject({
  path: z.string().startsWith('/', 'must be a path from the base address on, like "/v1/transfers"'),
  records: pointers,
  reference: pointers,
  amount: pointers,
  currency: pointers,
  status: pointers,
});

// Assumed, like the listing that it extends. Wrong: the run reports unreadable balances, or a difference.
const balancesSchema = listing.extend({
  // What `records` points to: a list; an object by currency, `{"NGN": {…}}` or `{"NGN": 12.5}`, where ""
  // points at the value itself; or one record, of a service with one currency only.
  form: z.enum(['list', 'by-currency', 'one']).default('list'),
  // A balance needs no reference of its own.
  reference: pointers.optional(),
  // Not needed with by-currency.
  currency: pointers.optional(),
  // The currency of records that name none. Wrong: a difference in two currencies.
  assumedCurrency: z
    .string()
    .refine((code) => minorDigits(code) !== null, 'must be an ISO 4217 code like "NGN"')
    .optional(),
  // A record with a pending status is money that is collected and not available yet.
  status: pointers.optional(),
  // Pending money, where the record has a field of its own for it, ...
  pending: pointers.optional(),
  // ... or where a field of the record holds available plus pending money, ...
  total: pointers.optional(),
  // ... or where pending money has a list of its own beside the list of available money.
  pendingRecords: pointers.optional(),
  // All fees that the service has deducted from the collected money: they left the balance and are no
  // transfers. Wrong or absent: the fees are a difference.
  fees: pointers.optional(),
});

// All assumed: the reference shows neither parameters nor pages.
const pagingSchema = z.strictObject({
  // auto follows the hints in the answer, and never treats a list as whole that shows signs of being
  // cut. Wrong: the reconciliation says "incomplete" and calls no payment missing. A wrong `none` may
  // treat a cut list as whole.
  style: z.enum(['none', 'page', 'offset', 'cursor', 'link', 'auto']).default('auto'),
  // With style offset, this parameter counts records. Wrong: every page is the first; detected, "incomplete".
  pageParam: parameter.default('page'),
  // Too large: the newest page is never read, so its payments are called missing until verify is asked.
  firstPage: z.int().min(0).default(1),
  // Wrong: the service uses its own page size; more calls, the same result.
  sizeParam: parameter.default('limit'),
  // Too large: the service clamps it, which is detected, or refuses with 4xx: "incomplete".
  size: z.int().min(1).max(10_000).default(100),
  // Wrong: every page is the first; detected, "incomplete".
  cursorParam: parameter.default('cursor'),
  // Wrong: the walk ends after one page; "incomplete" when the answer promises more.
  nextCursor: pointers.default(['/meta/next']),
  // Where the cursor is in the page's last record, if it is a field of that, as in
  // `starting_after=<id>`. Null: the answer names the cursor itself. Wrong: as nextCursor.
  cursorFromRow: pointerText().nullable().default(null),
  // Without one there, the header `Link` is read. Wrong: as nextCursor.
  nextLink: pointers.default(['/links/next']),
  // Names of the parameters of a time window, ISO 8601. Null: there are none. Wrong: the service ignores
  // them and lists more (harmless), or refuses: "incomplete".
  sinceParam: parameter.nullable().default(null),
  untilParam: parameter.nullable().default(null),
  // date-time: 2026-11-23T21:04:05.000Z. date: 2026-11-23, for a service that takes no time of day. Wrong:
  // refused, "incomplete"; or nothing is listed, and payments are called missing until verify is asked.
  windowFormat: z.enum(['date-time', 'date']).default('date-time'),
  // For a service that lists nothing without a window, or limits a window to so many days: the days of
  // one request, dates counted with both ends. As many requests are made as the period needs. Null: one
  // request for the whole period.
  // Too large: refused, "incomplete"; or clamped, and the payments of the days between are called
  // missing until verify is asked. Too small: more calls.
  windowDays: z.int().min(1).max(3_650).nullable().default(null),
  // Where a record has its time, if the list shows the newest first by that time: a run over a window reads
  // no page behind the first that is older. Null: unknown. Wrong: the list is read to its end; another time
  // than the one that orders it: payments are called missing until verify is asked.
  newestFirstBy: pointerText().nullable().default(null),
  // The header with the number of records in the whole list. Null: there is none. Wrong: too large a
  // number is detected, "incomplete"; a smaller number that is not the list's may end the reading early.
  totalHeader: parameter.nullable().default('x-total-count'),
});

const verifySchema = z.strictObject({
  // All assumed: the reference does not show verify's answer. Wrong: nothing is paid, payments
  // stay under review.
  record: pointers.default(['/data/data', '/data', '']),
  // Wrong: absent, hence unproven; another payment's reference, hence a mismatch. Never paid.
  reference: pointers.default(['/reference']),
  // Wrong: no status word or a foreign one; unknown, never paid, raised. Named in a file: other words of
  // status are ignored.
  status: pointers.default(['/status']),
  // What was received, not what was requested. Named in a file: `amountReceived` and similar fields are
  // no longer compared. Wrong: underpaid, overpaid or unproven; raised. A field that repeats the
  // requested amount would hide an underpayment: to test it, pay too little once.
  amount: pointers.default(['/amount/value', '/amount']),
  // Wrong: a mismatch or unproven; raised.
  currency: pointers.default(['/currency', '/amount/currency']),
  // Wrong: no effect, the key's prefix decides. Right: a record of the other mode never pays.
  mode: pointers.default(['/mode', '/environment', '/livemode', '/domain']),
  // Absent evidence proves nothing, unless an operator who knows the service allows it here. Wrong: a
  // record that proves less than it should pays an order.
  referenceMayBeAbsent: z.boolean().default(false),
  amountMayBeAbsent: z.boolean().default(false),
  currencyMayBeAbsent: z.boolean().default(false),
});

// Assumed. Compared after folding case and `_`, `-`, space. Any other word is unknown: not paid,
// not failed, raised.
const statusesSchema = z.strictObject({
  // Too few: money that came stays under review until the operator adds the word. A wrong
  // one gives goods away.
  paid: words.default(['success', 'successful', 'succeeded', 'paid']),
  // abandoned is not final: the shopper may come back to the page. Wrong: the payment is checked
  // until its horizon.
  pending: words.default([
    'pending',
    'processing',
    'in review',
    'ongoing',
    'queued',
    'open',
    'initiated',
    'abandoned',
  ]),
  // Wrong: the shopper is told to try again; money that arrives all the same is found and pays, or is
  // held as a duplicate.
  failed: words.default(['failed', 'declined', 'cancelled', 'canceled']),
  // Wrong: as failed.
  expired: words.default(['expired']),
  // Wrong: a reversal stays unseen, or one is raised that did not happen. Goods are not taken
  // back in either case.
  reversed: words.default(['reversed', 'refunded']),
  // Words beside those of the lists above, so that a file need not repeat a default. Wrong: as in the list.
  also: z.partialRecord(z.enum(['paid', 'pending', 'failed', 'expired', 'reversed']), words).default({}),
});

/** The lists as they are in force. */
function withAlso({ also, ...lists }: z.output<typeof statusesSchema>): typeof lists {
  const { paid = [], pending = [], failed = [], expired = [], reversed = [] } = also;
  return {
    paid: [...lists.paid, ...paid],
    pending: [...lists.pending, ...pending],
    failed: [...lists.failed, ...failed],
    expired: [...lists.expired, ...expired],
    reversed: [...lists.reversed, ...reversed],
  };
}

export const dialectSchema = z.strictObject({
  // Assumed: 25 means twenty-five naira, not kobo. Wrong: the first payment is a unit_error, a class of
  // its own, unless the service errs the same way in both directions: then only the amount on the
  // hosted page shows it.
  amountUnit: z.enum(['major', 'minor']).default('major'),
  initialize: z
    .strictObject({
      // Shown: `data` holds the URL. Assumed: it may also be an object with the URL in it. Wrong: no
      // checkout can be opened.
      checkoutUrl: pointers.default([
        '/data',
        '/data/authorizationUrl',
        '/data/authorization_url',
        '/data/checkoutUrl',
        '/data/checkout_url',
        '/data/checkoutLink',
        '/data/link',
        '/data/url',
      ]),
    })
    .prefault({}),
  verify: verifySchema.prefault({}),
  statuses: statusesSchema.prefault({}).transform(withAlso),
  history: z
    .strictObject({
      // Assumed. Wrong: the reconciliation says "incomplete: the answer holds no list".
      records: pointers.default(['/data/data', '/data', '']),
      // Assumed: rows look like verify's record, so its pointers apply unless these are named. Wrong:
      // rows are counted as unreadable, and the payments that they name as missing until verify is asked.
      reference: pointers.optional(),
      status: pointers.optional(),
      amount: pointers.optional(),
      currency: pointers.optional(),
      // The fee that the service deducted from the record's amount; the cash proof sums it over paid
      // records. If it is named, every record is parsed. Wrong or absent: the fees are a difference.
      fee: pointers.optional(),
      // Distinguishes two transactions of one reference. Wrong or absent: records that differ in any
      // byte are two, so one charge that is listed in two forms is raised as two; a pointer to the same
      // value in both hides the second.
      id: pointers.default(['/id', '/transactionId', '/transaction_id', '/_id', '/uuid']),
      // Seconds after which the list shows a payment that verify knows. Null: a quarter of an hour is
      // allowed. Too small: honest payments are raised as absent for a while. Too large: an absent one
      // is raised that much later.
      lagSec: z.int().min(0).nullable().default(null),
      // Days that the list reaches back; 0: all of them. Null: detected, where every payment that it
      // lacks is older than all that it lists. Too large: payments that dropped out of it are raised as
      // absent. Too small: nothing is looked for beyond it.
      reachesBackDays: z.int().min(0).nullable().default(null),
      paging: pagingSchema.prefault({}),
    })
    .prefault({}),
  webhook: z
    .strictObject({
      // Assumed. Wrong: the webhook is stored and ignored, and the scheduled checks find the payment.
      reference: pointers.default(['/data/reference', '/reference']),
      // The status that acknowledges a webhook. Wrong: the service resends what is already stored, and
      // may disable the address.
      acknowledgement: z.int().min(200).max(299).default(202),
      // Null: the service signs nothing that we could verify, and webhooks are unsigned hints.
      signature: signatureSchema.nullable().prefault({}),
    })
    .prefault({}),
  // `fee`: the cost of a transfer on top of its amount. Wrong or absent: a difference.
  transfers: listing.extend({ fee: pointers.optional() }).nullable().default(null),
  balances: balancesSchema.nullable().default(null),
});

export type Dialect = z.output<typeof dialectSchema>;
export type BalancesListing = NonNullable<Dialect['balances']>;
export type TransfersListing = NonNullable<Dialect['transfers']>;
export type SignatureScheme = NonNullable<Dialect['webhook']['signature']>;
