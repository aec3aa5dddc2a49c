import { Router, type Request } from 'express';
import { z } from 'zod';

import { delaySchema } from './faults.ts';
import { httpError } from './http.ts';
import { open, pay, recordOf, reverse, type Ledger, type Row, type Transaction } from './ledger.ts';
import { parseAmount } from './money.ts';
import { DELIVERIES, messageAbout, notify, type State } from './state.ts';

const amountSchema = z.union([z.number(), z.string()]).transform((given, context) => {
  const read = parseAmount(given);
  if (read === null) context.addIssue('an amount is a plain decimal in major units, like "12.50"');
  return read ?? z.NEVER;
});
const toldSchema = z.strictObject({
  notify: z.boolean().default(true),
  webhook: z.enum(DELIVERIES).default('once'),
  delayMs: delaySchema.default(0),
});
const paySchema = toldSchema.extend({
  amount: amountSchema.optional(),
  currency: z.string().min(1).max(10).optional(),
  times: z.number().int().min(1).max(100).default(1),
  create: z.boolean().default(false),
  email: z.string().optional(),
});
const strangerSchema = paySchema.required({ email: true, amount: true, currency: true });
const reverseSchema = toldSchema.extend({ amount: amountSchema.optional() });
const statusSchema = toldSchema.extend({ word: z.string() });
const recordSchema = z.looseObject({ verifyOnly: z.boolean().default(false) });
const hideSchema = z.strictObject({ from: z.enum(['verify', 'list', 'both']), hidden: z.boolean() });
const webhookSchema = z.strictObject({ body: z.unknown().optional() });

/** Changes transactions for a test, under /sandbox/transactions. control.ts describes each call. */
export function actRoutes({ ledger, webhooks }: State): Router {
  const router = Router();
  const act = <T>(name: string, schema: z.ZodType<T>, deed: (transaction: Transaction, body: T) => void): void => {
    router.post(`/:reference/${name}`, (req: Request<{ reference: string }>, res) => {
      const transaction = found(ledger, req.params.reference);
      deed(transaction, schema.parse(req.body ?? {}));
      res.json(described(ledger, transaction));
    });
  };
  const tell = (row: Row, { notify: isTold, webhook, delayMs }: z.infer<typeof toldSchema>): void => {
    if (isTold) notify(webhooks, row, webhook, delayMs);
  };

  router.get('/', (_req, res) => {
    res.json([...ledger.transactions.values()].map((transaction) => described(ledger, transaction)));
  });
  router.post('/:reference/pay', (req, _res, next) => {
    openIfAsked(ledger, req.params.reference, req.body);
    next();
  });
  act('pay', paySchema, (transaction, body) => {
    const { amount = transaction.amount, currency = transaction.currency } = body;
    for (let time = 0; time < body.times; time += 1) tell(pay(ledger, transaction, amount, currency), body);
  });
  act('reverse', reverseSchema, (transaction, body) => {
    const row = reverse(transaction, body.amount);
    if (row === null) throw httpError(400, 'less than this amount is left of the payment');
    tell(row, body);
  });
  const setWord = ({ rows: [row] }: Transaction, body: z.infer<typeof statusSchema>): void => {
    row.status = body.word;
    tell(row, body);
  };
  act('status', statusSchema, setWord);
  act('fail', statusSchema.extend({ word: z.literal('FAILED').default('FAILED') }), setWord);
  act('expire', statusSchema.extend({ word: z.literal('EXPIRED').default('EXPIRED') }), setWord);
  act('record', recordSchema, showOtherwise);
  act('hide', hideSchema, hide);
  router.post('/:reference/webhook', async (req, res) => {
    const { body } = webhookSchema.parse(req.body ?? {});
    const status = await webhooks.post(body ?? messageAbout(found(ledger, req.params.reference).rows[0]));
    res.json({ status });
  });
  return router;
}

function showOtherwise({ fields }: Transaction, { verifyOnly, ...given }: z.infer<typeof recordSchema>): void {
  Object.assign(fields.verify, given);
  if (!verifyOnly) Object.assign(fields.list, given);
}

function hide({ hidden }: Transaction, body: z.infer<typeof hideSchema>): void {
  if (body.from !== 'list') hidden.verify = body.hidden;
  if (body.from !== 'verify') hidden.list = body.hidden;
}

function found({ transactions }: Ledger, reference: string): Transaction {
  const transaction = transactions.get(reference);
  if (transaction === undefined) throw httpError(404, 'there is no such transaction');
  return transaction;
}

/**
 * With `create`, the transaction exists although nobody initialized it, like an unmatched payment.
 */
function openIfAsked(ledger: Ledger, reference: string, body: unknown): void {
  if ((body as { create?: unknown } | undefined)?.create !== true || ledger.transactions.has(reference)) return;
  const { email, amount, currency } = strangerSchema.parse(body);
  open(ledger, { reference, email, amount, currency, redirectUrl: null });
}

function described(ledger: Ledger, { reference, email, redirectUrl, hidden, rows }: Transaction): object {
  const verify = recordOf(ledger, rows[0], 'verify');
  return { reference, email, redirectUrl, hidden, verify, list: rows.map((row) => recordOf(ledger, row, 'list')) };
}
