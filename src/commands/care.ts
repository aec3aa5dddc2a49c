import { z } from 'zod';
import { eraseOrder, eraseWebhooks, retain } from '../payments/retention.ts';
import { emailAddress } from '../platform/email.ts';
import { adopt } from '../payments/acts.ts';
import { reconcile } from '../reconciliation/run.ts';
import { amountText } from '../reporting/words.ts';
import { workList } from './cases.ts';
import { findOrder, isAddress } from './named.ts';
import { action, FLAG, refused, TEXT, usageError, type CommandParts, type Outcome } from './registry.ts';

const toDate = (text: string): Date | null => new Date(text);
const TIME = z.iso.datetime({ offset: true }).transform(toDate).default(null);
const COMPARING = { since: TIME, until: TIME, 'dry-run': FLAG, begin: FLAG };
const ADOPTING = { order: TEXT.optional(), adopt: TEXT.optional() };
const VERDICTS = { agreed: ['AGREED', 0], findings: ['NOT AGREED', 1], incomplete: ['NOT COMPLETED', 2] } as const;

export const CARE = [
  action('operator', 'reconcile', COMPARING, async (parts, { 'dry-run': dryRun, ...input }) => {
    const progress = (text: string) => process.stderr.write(`${text}\n`);
    const data = await reconcile(parts, { ...input, dryRun, progress });
    const [title, exitCode] = VERDICTS[data.verdict];
    const lines = data.identity.map(({ currency, serviceTotal, earned, classes, difference }) => {
      const others = Object.entries(classes).filter(([, amount]) => /[1-9]/.test(amount));
      const sum = [`captured ${earned}`, ...others.map((other) => other.join(' '))].join(' + ');
      return `${currency}  the history has ${serviceTotal} = ${sum}; unexplained ${difference}`;
    });
    const counts = `${title}. ${data.payments} payments, ${data.matched} matched, ${data.repaired} repaired.`;
    const open = exitCode === 0 ? null : (await workList(parts)).sentence;
    return { data, exitCode, sentence: [counts, data.reason, ...lines, open].filter(Boolean).join('\n') };
  }),
  action(
    'operator',
    'after-restore ORDER',
    ADOPTING,
    async (parts, { order, adopt: reference }) => {
      if (reference === undefined) return moneyWithoutOrder(parts);
      if (order === undefined) throw usageError('ORDER is missing. Name the order that the money belongs to.');
      const { id } = await findOrder(parts, order);
      const adopted = await adopt(parts, parts.gateway.references.parse(reference) ?? '', id, parts.by);
      if (adopted !== 'adopted') throw refused(adopted);
      return { sentence: `${reference} now belongs to the order ${id}.` };
    },
    ({ adopt: reference }) => reference === undefined,
  ),
  // Opening the program has already applied the migrations.
  action('operator', 'migrate', {}, () =>
    Promise.resolve({ sentence: 'The database has the schema of this version.' }),
  ),
  action('operator', 'retention', {}, async ({ prisma, config }) => {
    const { RETAIN_BODIES_DAYS: bodyDays, RETAIN_UNPAID_DAYS: unpaidDays } = config;
    const data = await retain(prisma, config);
    const { bodies, orders } = data;
    const emptied =
      bodies === null
        ? 'RETAIN_BODIES_DAYS is not set, so all bodies are kept.'
        : `Older than ${bodyDays ?? ''} days: ${bodies.answers} answers and ${bodies.messages} messages emptied, ` +
          `${bodies.webhooks} webhooks deleted.`;
    const removed =
      orders === null
        ? 'RETAIN_UNPAID_DAYS is 0, so all unpaid orders are kept.'
        : `Ended more than ${unpaidDays} days ago without money: ${orders} orders deleted.`;
    return { data, sentence: `${emptied}\n${removed}` };
  }),
  action('operator', 'erase EMAIL', { email: emailAddress }, async (parts, { email }) => {
    const orders = await parts.prisma.order.findMany({ where: { email: isAddress(email) } });
    const open: string[] = [];
    for (const { id, mode } of orders) if (!(await eraseOrder(parts.prisma, mode, id, parts.by))) open.push(id);
    const webhooks = await eraseWebhooks(parts.prisma, email);
    const erased = orders.length - open.length;
    const lines = [
      `Erased from ${erased} orders, and ${webhooks} webhooks emptied.`,
      ...open.map((id) => `Left: the order ${id}, which is open. End it first, and erase again.`),
      'Left: notes, lines and metadata of orders that name it, backups, the payment service, your own systems.',
    ];
    return { data: { erased, webhooks, open }, sentence: lines.join('\n'), exitCode: open.length > 0 ? 1 : 0 };
  }),
];

/**
 * Money in the history that belongs to no order. After a restore, the database may lack these
 * orders.
 */
async function moneyWithoutOrder({ prisma, policy }: CommandParts): Promise<Outcome> {
  const where = { mode: policy.mode, orderId: null, cases: { some: { closedAt: null } } };
  const data = await prisma.payment.findMany({ where, orderBy: { createdAt: 'asc' } });
  const lines = data.map((one) => `${one.reference}  ${amountText(one)}`);
  return { data, sentence: lines.join('\n') || 'All money belongs to an order.' };
}
