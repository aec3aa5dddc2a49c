import { z } from 'zod';
import { minorDigits } from '../../platform/money.ts';

/**
 * What the service's reference leaves open, written down as data. Every default says whether the reference
 * shows it or we assume it, and what happens when the assumption is wrong. A shop overrides single keys in a
 * JSON file. The same as a table, with how to see it and how to change it:
 * docs/what-the-reference-leaves-open.md.
 */

/**
 * RFC 6901 pointers, tried in order; the first that holds a usable value is read. In a record that says paid,
 * others that hold another value contradict it, and a field named in a file outweighs its siblings:
 * docs/what-we-believe.md.
 */
const pointers = z.array(pointerText()).min(1);
const words = z.array(z.string().min(1));
const parameter = z.string().min(1);

function pointerText() {
  return z.string().regex(/^(\/([^~/]|~[01])*)*$/, 'must be a JSON pointer: "" or "/name/name"');
}

// All of it is assumed: the reference shows no signature. Wrong, and secrets are set: every webhook answers 401, and
// payments are found by return and clock alone. Wrong without secrets: nothing, webhooks are unsigned hints.
const signatureSchema = z.strictObject({
  // hmac: a digest of the body. static: the secret itself stands in the header. Wrong: 401, as above.
  scheme: z.enum(['hmac', 'static']).default('hmac'),
  // Wrong: 401, as above.
  header: z.string().min(1).default('x-signature'),
  // Wrong: 401, as above.
  algorithm: z.enum(['sha256', 'sha512']).default('sha256'),
  // hex is read in either case. Wrong: 401, as above.
  encoding: z.enum(['hex', 'base64']).default('hex'),
  // What stands before the digest, like `sha256=`. Wrong: 401, as above.
  prefix: z.string().default(''),
  // The header is a list like `t=1700000000,v1=…`: the names of its entries. Null: it is one value. Wrong: 401, as above.
  list: z
    .strictObject({ timestamp: parameter.default('t'), signature: parameter.default('v1') })
    .nullable()
    .default(null),
  // `timestamp.body`: the time, a dot, the body. Wrong: 401, as above.
  signs: z.enum(['body', 'timestamp.body']).default('body'),
  // Where the time stands that is signed along; with a list it stands there. Wrong: 401, as above.
  timestampHeader: z.string().nullable().default(null),
  // How old a signed time may be. Too small: webhooks that were retried answer 401. Too large: old ones may be replayed,
  // which costs a question and gains nothing.
  toleranceSec: z.int().positive().default(300),
});

// The reference says that transfers and balances exist and not where, so there is no default. Wrong: nothing else suffers.
const listing = z.strictObject({
  path: z.string().startsWith('/', 'must be a path from the base address on, like "/v1/transfers"'),
  records: pointers,
  reference: pointers,
  amount: pointers,
  currency: pointers,
  status: pointers,
});

// Assumed like the listing that it extends. Wrong: the run says that the balances cannot be read, or that they differ.
const balancesSchema = listing.extend({
  // What stands at `records`: a list; an object whose names are the currencies, `{"NGN": {…}}` or `{"NGN": 12.5}`, where
  // "" points at the value itself; or one record, of a service that knows one currency only.
  form: z.enum(['list', 'by-currency', 'one']).default('list'),
  // Balances need no name of their own.
  reference: pointers.optional(),
  // Not needed with by-currency.
  currency: pointers.optional(),
  // The currency of a record that names none. Wrong: a difference in two currencies.
  assumedCurrency: z
    .string()
    .refine((code) => minorDigits(code) !== null, 'must be an ISO 4217 code like "NGN"')
    .optional(),
  // A record whose word means pending is money that is collected and not available yet.
  status: pointers.optional(),
  // The same where it has a field of its own in the record, ...
  pending: pointers.optional(),
  // ... where the record tells the sum of both instead, ...
  total: pointers.optional(),
  // ... or where it is a list of its own beside the one of what is available.
  pendingRecords: pointers.optional(),
  // What the service has taken of the money that is collected, in all: it left the balance and is no transfer. Wrong or
  // absent: the fees are a difference.
  fees: pointers.optional(),
});

// All of it is assumed: the reference shows neither parameters nor pages.
const pagingSchema = z.strictObject({
  // auto follows what the answer offers, and never calls a list whole that shows signs of being cut. Wrong: the
  // reconciliation says "incomplete" and calls no payment missing. A wrong `none` may call a cut list whole.
  style: z.enum(['none', 'page', 'offset', 'cursor', 'link', 'auto']).default('auto'),
  // With style offset, the parameter that counts records. Wrong: every page is the first; noticed, "incomplete".
  pageParam: parameter.default('page'),
  // Wrong by being too large: the newest page is never seen, so its payments are called missing until verify is asked.
  firstPage: z.int().min(0).default(1),
  // Wrong: the service takes its own size; more calls, the same result.
  sizeParam: parameter.default('limit'),
  // Too large: clamped, which is noticed, or refused with 4xx: "incomplete".
  size: z.int().min(1).max(10_000).default(100),
  // Wrong: every page is the first; noticed, "incomplete".
  cursorParam: parameter.default('cursor'),
  // Wrong: the walk ends after one page; "incomplete" when the answer promises more.
  nextCursor: pointers.default(['/meta/next']),
  // The cursor is a field of the page's last record, as in `starting_after=<id>`: where it stands in the record. Null:
  // the answer names the cursor itself. Wrong: as nextCursor.
  cursorFromRow: pointerText().nullable().default(null),
  // Wrong: as nextCursor.
  nextLink: pointers.default(['/links/next']),
  // Names of the parameters of a time window, ISO 8601. Null: there are none. Wrong: the service ignores them and lists
  // more (harmless), or refuses: "incomplete".
  sinceParam: parameter.nullable().default(null),
  untilParam: parameter.nullable().default(null),
  // For a service that lists nothing without a window, or only so many days at a time: the days of one question, of which
  // as many are asked as there are days to cover. Null: one question for all. Too large: refused, "incomplete"; or
  // clamped, and the payments of the days between are called missing until verify is asked. Too small: more calls.
  windowDays: z.int().min(1).max(3_650).nullable().default(null),
  // The header that tells how many records the whole list has. Null: there is none. Wrong: too many promised is noticed,
  // "incomplete"; a number that is not the list's and too small may end the reading early.
  totalHeader: parameter.nullable().default('x-total-count'),
});

const verifySchema = z.strictObject({
  // Assumed, all of it: the reference does not show verify's answer. Wrong: nothing is paid, payments stay under review.
  record: pointers.default(['/data/data', '/data', '']),
  // Wrong: absent, hence unproven; another's reference, hence a mismatch. Never paid.
  reference: pointers.default(['/reference']),
  // Wrong: no word or a foreign one; unknown, never paid, raised. Named in a file: other words of status are
  // passed over.
  status: pointers.default(['/status']),
  // What came in, not what was asked for. Named in a file: `amountReceived` and its like are not asked any
  // more. Wrong: underpaid, overpaid or unproven; raised. A field that repeats what was asked for would hide
  // an underpayment: pay too little once, and look.
  amount: pointers.default(['/amount/value', '/amount']),
  // Wrong: a mismatch or unproven; raised.
  currency: pointers.default(['/currency', '/amount/currency']),
  // Wrong: nothing, the key's prefix decides. Right: a record of the other mode never pays.
  mode: pointers.default(['/mode', '/environment', '/livemode', '/domain']),
  // Evidence that is absent is no evidence, unless somebody who knows the service says so here. Wrong: a record that
  // proves less than it should pays an order.
  referenceMayBeAbsent: z.boolean().default(false),
  amountMayBeAbsent: z.boolean().default(false),
  currencyMayBeAbsent: z.boolean().default(false),
});

// Assumed. Compared after folding case and `_`, `-`, space. Any other word is unknown: not paid, not failed, raised.
const statusesSchema = z.strictObject({
  // Too few: money that came stays under review until somebody adds the word. A wrong one gives goods away.
  paid: words.default(['success', 'successful', 'succeeded', 'paid']),
  // abandoned is not final: the shopper may come back to the page. Wrong: the payment is asked about until its horizon.
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
  // Wrong: the shopper is told to try again; money that comes all the same is found and pays, or is held as a duplicate.
  failed: words.default(['failed', 'declined', 'cancelled', 'canceled']),
  // Wrong: as failed.
  expired: words.default(['expired']),
  // Wrong: a reversal stays unseen, or is raised where there is none. Nothing given is taken back either way.
  reversed: words.default(['reversed', 'refunded']),
});

export const dialectSchema = z.strictObject({
  // Assumed: 25 means twenty-five naira, not kobo. Wrong: the first payment is a unit_error, a class of its own, unless
  // the service errs the same way in both directions: then only the amount on the hosted page tells.
  amountUnit: z.enum(['major', 'minor']).default('major'),
  initialize: z
    .strictObject({
      // Shown: `data` holds the URL. Assumed: it may also be an object around it. Wrong: no checkout can be opened.
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
  statuses: statusesSchema.prefault({}),
  history: z
    .strictObject({
      // Assumed. Wrong: the reconciliation says "incomplete: the answer holds no list".
      records: pointers.default(['/data/data', '/data', '']),
      // Assumed: rows look like verify's record, so its pointers hold unless these are named. Wrong: rows are counted as
      // unreadable, and payments that they name as missing until verify is asked.
      reference: pointers.optional(),
      status: pointers.optional(),
      amount: pointers.optional(),
      currency: pointers.optional(),
      // What the service took off the amount of the record that it keeps for itself; summed over paid records, it is part of
      // the cash proof. Named, every record is parsed. Wrong or absent: the fees are a difference.
      fee: pointers.optional(),
      // What tells two transactions of one reference apart. Wrong or absent: records that differ in any byte are two, so
      // one charge that is listed in two forms is raised as two; a place that holds the same in both hides the second.
      id: pointers.default(['/id', '/transactionId', '/transaction_id', '/_id', '/uuid']),
      // The list is written so many seconds after verify knows of a payment. Null: a quarter of an hour is allowed for. Too
      // small: honest payments are raised as absent for a while. Too large: an absent one is raised so much later.
      lagSec: z.int().min(0).nullable().default(null),
      // The list holds the last so many days and nothing older; 0: all of it. Null: noticed, where all that it lacks is
      // older than all that it lists. Too large: what fell out of it is raised as absent. Too small: nothing is looked for
      // beyond it.
      reachesBackDays: z.int().min(0).nullable().default(null),
      paging: pagingSchema.prefault({}),
    })
    .prefault({}),
  webhook: z
    .strictObject({
      // Assumed. Wrong: the webhook is kept and ignored, and the clock finds the payment.
      reference: pointers.default(['/data/reference', '/reference']),
      // The status that says "taken". Wrong: the service sends again what is kept already, and may switch the address off.
      acknowledgement: z.int().min(200).max(299).default(202),
      // Null: the service signs nothing that we could check, and webhooks are unsigned hints.
      signature: signatureSchema.nullable().prefault({}),
    })
    .prefault({}),
  // `fee`: what a transfer cost besides its amount. Wrong or absent: a difference.
  transfers: listing.extend({ fee: pointers.optional() }).nullable().default(null),
  balances: balancesSchema.nullable().default(null),
});

export type Dialect = z.output<typeof dialectSchema>;
export type BalancesListing = NonNullable<Dialect['balances']>;
export type TransfersListing = NonNullable<Dialect['transfers']>;
export type SignatureScheme = NonNullable<Dialect['webhook']['signature']>;
