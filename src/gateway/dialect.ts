import { z } from 'zod';

/**
 * What the service's reference leaves open, written down as data. Every default says whether the reference shows
 * it or we assume it, and what happens when the assumption is wrong. A shop overrides single keys in a JSON file.
 */

/** RFC 6901 pointers, tried in order; the first that holds a usable value wins. */
const pointers = z
  .array(z.string().regex(/^(\/([^~/]|~[01])*)*$/, 'must be a JSON pointer: "" or "/name/name"'))
  .min(1);
const words = z.array(z.string().min(1));

const signatureSchema = z.strictObject({
  // Assumed. Wrong header: with secrets set every webhook answers 401, and payments are found by the clock alone.
  header: z.string().default('x-signature'),
  algorithm: z.enum(['sha256', 'sha512']).default('sha256'),
  // hex is read in either case.
  encoding: z.enum(['hex', 'base64']).default('hex'),
  prefix: z.string().default(''),
  signs: z.enum(['body', 'timestamp.body']).default('body'),
  timestampHeader: z.string().nullable().default(null),
  toleranceSec: z.int().positive().default(300),
});

const listing = z.strictObject({
  path: z.string().startsWith('/'),
  records: pointers,
  reference: pointers,
  amount: pointers,
  currency: pointers,
  status: pointers,
});

const pagingSchema = z.strictObject({
  // auto follows what the answer offers, and never calls a list whole that shows signs of being cut.
  style: z.enum(['none', 'page', 'offset', 'cursor', 'link', 'auto']).default('auto'),
  pageParam: z.string().default('page'),
  firstPage: z.int().min(0).default(1),
  sizeParam: z.string().default('limit'),
  size: z.int().min(1).max(10_000).default(100),
  cursorParam: z.string().default('cursor'),
  nextCursor: pointers.default(['/meta/next']),
  nextLink: pointers.default(['/links/next']),
  sinceParam: z.string().nullable().default(null),
  untilParam: z.string().nullable().default(null),
});

const dialectSchema = z.strictObject({
  // Assumed: 25 means twenty-five naira, not kobo. Wrong: the first payment is a unit_error, a class of its own.
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
  verify: z
    .strictObject({
      // Assumed, all of it: the reference does not show verify's answer. Wrong: nothing is paid, payments stay under review.
      record: pointers.default(['/data/data', '/data', '']),
      reference: pointers.default(['/reference']),
      status: pointers.default(['/status']),
      amount: pointers.default(['/amount/value', '/amount']),
      currency: pointers.default(['/currency', '/amount/currency']),
      // Wrong: nothing, the key's prefix decides. Right: a record of the other mode never pays.
      mode: pointers.default(['/mode', '/environment', '/livemode', '/domain']),
      // Evidence that is absent is no evidence, unless somebody who knows the service says so here.
      referenceMayBeAbsent: z.boolean().default(false),
      amountMayBeAbsent: z.boolean().default(false),
      currencyMayBeAbsent: z.boolean().default(false),
    })
    .prefault({}),
  // Assumed. Compared after folding case and `_`, `-`, space. Any other word is unknown: not paid, not failed, raised.
  statuses: z
    .strictObject({
      paid: words.default(['success', 'successful', 'succeeded', 'paid']),
      // abandoned is not final: the shopper may come back to the page.
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
      failed: words.default(['failed', 'declined', 'cancelled', 'canceled']),
      expired: words.default(['expired']),
      reversed: words.default(['reversed', 'refunded']),
    })
    .prefault({}),
  history: z
    .strictObject({
      // Assumed. Rows are read with verify's pointers unless named here.
      records: pointers.default(['/data/data', '/data', '']),
      reference: pointers.optional(),
      status: pointers.optional(),
      amount: pointers.optional(),
      currency: pointers.optional(),
      paging: pagingSchema.prefault({}),
    })
    .prefault({}),
  webhook: z
    .strictObject({
      // Assumed. Wrong: the webhook is kept and ignored, and the clock finds the payment.
      reference: pointers.default(['/data/reference', '/reference']),
      signature: signatureSchema.nullable().prefault({}),
    })
    .prefault({}),
  // The reference says these exist and does not say where.
  transfers: listing.nullable().default(null),
  balances: listing.nullable().default(null),
});

export type Dialect = z.output<typeof dialectSchema>;
export type SignatureScheme = NonNullable<Dialect['webhook']['signature']>;

/** Every fault of a dialect file, each with the path of the key. */
export class DialectError extends Error {
  readonly faults: string[];

  constructor(faults: string[]) {
    super(faults.join('; '));
    this.name = 'DialectError';
    this.faults = faults;
  }
}

/**
 * Reads a dialect file over the defaults, key by key.
 * @returns the dialect in force, and which scheme the file itself names (an assumed one does not bind)
 * @throws {DialectError}
 */
export function parseDialect(text: string): { dialect: Dialect; named: { signature: boolean } } {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new DialectError(['the file is not JSON']);
  }
  const parsed = dialectSchema.safeParse(given);
  if (!parsed.success) {
    throw new DialectError(parsed.error.issues.map(({ path, message }) => `/${path.join('/')}: ${message}`));
  }
  const { signature } = parsed.data.webhook;
  if (signature?.signs === 'timestamp.body' && signature.timestampHeader === null) {
    throw new DialectError(['/webhook/signature/timestampHeader: is needed when the timestamp is signed']);
  }
  const twice = repeatedWords(parsed.data);
  if (twice.length > 0)
    throw new DialectError(twice.map((word) => `/statuses: "${word}" stands in two lists`));
  const named = z.object({ webhook: z.object({ signature: z.object({}) }) }).safeParse(given).success;
  return { dialect: parsed.data, named: { signature: named } };
}

/** Folds what services spell differently: case, and `_`, `-` or space between words. */
export function foldWord(word: string): string {
  return word
    .trim()
    .toLowerCase()
    .replace(/[_\- ]+/g, ' ');
}

function repeatedWords({ statuses }: Dialect): string[] {
  const all = Object.values(statuses).flatMap((list) => [...new Set(list.map(foldWord))]);
  return [...new Set(all.filter((word, at) => all.indexOf(word) !== at))];
}
