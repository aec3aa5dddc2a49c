import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { standingOf } from '../../src/reporting/standing.ts';
import { storyLines } from '../../src/reporting/story-text.ts';
import { explainText } from '../../src/reporting/explain.ts';
import type { OrderDetail } from '../../src/reporting/order-detail.ts';
import type { StoryEvent } from '../../src/reporting/timeline.sql.ts';
import { asOrderId, asReference } from '../support/ids.ts';

const AT = new Date('2026-11-22T07:51:48Z');
const REFERENCE = asReference('y'.repeat(24));
const ofOrder = (over: Partial<OrderDetail> = {}): OrderDetail => ({
  ...{ orderId: asOrderId('x'.repeat(24)), externalId: null, status: 'pending', mode: 'test' },
  ...{ amount: '85.00', refunded: '0.00', currency: 'NGN', details: {}, metadata: {}, payBy: null },
  ...{
    lines: [{ description: 'Ankara tote bag', quantity: 1, amount: '85.00' }],
    payments: [],
    story: [],
    contradictions: [],
  },
  ...{ journal: { entries: 7, hash: null }, placedAt: AT, customer: 'ad***@example.com', paidAt: null },
  ...{ expiredAt: null, cancelledAt: null, cancelledBy: null, cancelReason: null },
  ...{
    cameAmount: null,
    unexplained: null,
    delivery: null,
    attempts: null,
    lastError: null,
    deliveredAt: null,
    nextDeliveryAt: null,
  },
  ...{ acceptedBy: null, acceptedAmount: null, cases: [] },
  ...over,
});
const event = (over: Partial<StoryEvent>): StoryEvent => ({
  ...{ at: AT, source: 'verification', what: 'pending', reference: REFERENCE, detail: '', facts: {} },
  ...over,
});
const payment: OrderDetail['payments'][number] = {
  ...{ reference: REFERENCE, status: 'open', reason: null, checks: 1, hints: 0 },
  ...{ nextCheckAt: AT, lastAnswerAt: AT },
};

const paid = {
  status: 'paid',
  paidAt: AT,
  cameAmount: '8500',
  delivery: 'delivered',
  deliveredAt: AT,
  attempts: 1,
} as const;
const failing = { ...paid, deliveredAt: null, attempts: 3, lastError: 'HTTP 503', nextDeliveryAt: AT };
const cancelled = { status: 'cancelled', cancelledAt: AT, cancelledBy: 'Ngozi' } as const;
const answered = (what: string, facts = {}) => ({ story: [event({ what, facts })], payments: [payment] });
const money = (amount: string) => ({ amount, currency: 'NGN' });
const overpaid = { class: 'overpaid', reference: REFERENCE, actual: money('17000'), held: money('17000') };

const ORDERS: Record<string, Partial<OrderDetail>> = {
  'paid, delivered': paid,
  'paid, being delivered': { ...paid, delivery: 'waiting', deliveredAt: null },
  'paid, delivery fails': { ...failing, delivery: 'waiting' },
  'paid, delivery given up': { ...failing, delivery: 'dead', nextDeliveryAt: null },
  'paid, no delivery system': { ...paid, delivery: 'unneeded', deliveredAt: null },
  'paid, accepted': { ...paid, acceptedBy: 'Ngozi', acceptedAmount: '4250' },
  'refunded in part': { ...paid, refunded: '5.00' },
  refunded: { ...paid, refunded: '85.00' },
  'refunded, withheld': { ...paid, refunded: '85.00', delivery: 'withheld', attempts: 0, deliveredAt: null },
  'refunded, given up': { ...failing, refunded: '85.00', delivery: 'withheld', nextDeliveryAt: null },
  'reversed, withheld': { ...paid, delivery: 'withheld', attempts: 0, deliveredAt: null },
  'paid, surplus noted': { ...paid, cases: [{ ...overpaid, surplusRefund: 'RF-7' }] },
  'pending, not begun': {},
  pending: { payments: [payment], payBy: AT },
  failed: { status: 'failed', ...answered('failed') },
  expired: { status: 'expired' },
  'expired at its deadline': { status: 'expired', expiredAt: AT, payBy: AT },
  cancelled: { ...cancelled, cancelReason: 'sold out' },
  'closed by a decision': { ...cancelled, cancelReason: 'its money was decided about: write_off' },
  'in review, surplus noted': { status: 'review', cases: [{ ...overpaid, surplusRefund: 'RF-7' }] },
  'in review, no case yet': { status: 'review', ...answered('unknown_status', { word: 'COLLECTED' }) },
};

/** The table of the page, without the row that only points to another. */
const ROWS = readFileSync('docs/operations.md', 'utf8')
  .split('### What the page of an order says')[1]
  ?.split('\n### ')[0]
  ?.split('\n')
  .filter((line) => /^\| (?!-|order )/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter(([, name]) => name !== 'in review, with a case');

/** `…` stands for anything. */
const pattern = (text: string): RegExp =>
  new RegExp(
    `^${text
      .split('…')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.+')}$`,
  );

describe('the sentence about an order is the one that the page of operations lists', () => {
  test('for each status', () => {
    expect(ROWS?.map(([, name]) => name).sort()).toEqual(Object.keys(ORDERS).sort());
  });

  test.each(ROWS?.map(([, name = '', text = '', next = '']) => [name, text, next] as const) ?? [])(
    '%s',
    (name, text, next) => {
      const standing = standingOf(ofOrder(ORDERS[name]));
      expect(standing.text).toMatch(pattern(text));
      expect(standing.next).toMatch(pattern(next));
    },
  );

  test('and a case comes first, whatever the status: what is wrong, what was delivered, how many more', () => {
    const reversed = { ...overpaid, class: 'reversed', held: null, surplusRefund: null };
    const { tone, text, next } = standingOf(ofOrder({ ...paid, cases: [reversed, reversed] }));
    expect([tone, text]).toEqual([
      'open',
      'More of the NGN 85.00 went back than the shop wrote down as refunds. ' +
        'Delivered on 2026-11-22 at 07:51. 1 more case waits.',
    ]);
    expect(next).toMatch(/^\p{Lu}.*[^.]\.$/u);
  });
});

describe('what happened', () => {
  const later = (sec: number): Date => new Date(AT.getTime() + sec * 1_000);

  test('is told once where it repeats itself, with a count', () => {
    const webhook = { source: 'webhook', what: 'hinted', facts: { signed: 'signed' } } as const;
    const story = [
      event({ source: 'journal', what: 'order-placed', facts: { cause: 'shopper' } }),
      event({ ...webhook, at: later(1) }),
      event({ ...webhook, at: later(2) }),
      event({ source: 'event', what: 'order.review' }),
      event({ ...webhook, at: later(3) }),
      event({ what: 'overpaid', at: later(4), facts: { amount: '17000', currency: 'NGN' } }),
      event({
        source: 'suspense',
        what: 'opened',
        at: later(4),
        facts: { class: 'overpaid', ...money('17000') },
      }),
      event({ source: 'finding', what: 'overpaid', at: later(9), facts: { class: 'overpaid', raised: 'x' } }),
      event({ source: 'finding', what: 'note', at: later(9), facts: { by: 'Ada', note: 'called her' } }),
      event({
        source: 'suspense',
        what: 'refund',
        at: later(9),
        facts: { ...money('17000'), by: 'Ngozi', note: 'all', number: 'RF-1' },
      }),
    ];
    const reversed = { class: 'reversed', raised: 'x' };
    story.push(event({ source: 'finding', what: 'reversed', at: later(9), facts: reversed }));
    const payments = [{ ...payment, checks: 5, lastAnswerAt: later(300) }];
    expect(storyLines(ofOrder({ story, payments })).map(({ text }) => text)).toEqual([
      'Order placed by the shopper.',
      'The service told us that something changed (webhook, signed). 3 times, the last at 07:51:51.',
      'We asked the service: paid NGN 170.00, that is NGN 85.00 too much. ' +
        'Asked 5 times in all, the last at 07:56:48: nothing new.',
      'NGN 170.00 is held for a decision: paid too much.',
      'Ada noted: ‘called her’.',
      'Ngozi gave back NGN 170.00, number RF-1: ‘all’.',
      'Reconciliation found: Money went back. More of the NGN 85.00 went back than the shop wrote down as refunds.',
    ]);
  });

  test('fits a terminal of 80 columns, and what was altered stands first', () => {
    const note =
      'a reason that is told at such length that no line of a terminal would hold it, however wide it is';
    const story = [event({ source: 'journal', what: 'check-asked', facts: { cause: 'operator:Ada', note } })];
    const text = explainText(
      ofOrder({ ...paid, story, contradictions: ['the order costs other than its lines'] }),
    );
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(text).toMatch(/^ALTERED: .*\n {2}the order costs/);
    expect(text).toContain('2026-11-22 (UTC)\n  07:51:48  Ada asked for a check: ‘a reason');
    expect(explainText(ofOrder())).toContain('record complete: 7 entries, none missing or altered');
  });
});
