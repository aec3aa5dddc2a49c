import { expect, test } from '@jest/globals';
import type { HeldMoney, ReviewDecision } from '../../src/demo-shop/money-text.ts';
import { statusTextOf } from '../../src/demo-shop/order-status-text.ts';
import { LANGUAGES } from '../../src/demo-shop/language.tsx';
import { EN } from '../../src/demo-shop/words/en.ts';
import { FR } from '../../src/demo-shop/words/fr.ts';
import type { Order } from '../../src/orders/order.ts';
import { order } from './support.ts';

// What a shopper reads of money that did not simply pay the order. The order costs NGN 16,901.00.

const held = (name: string, amount: bigint, rest: Partial<HeldMoney> = {}): HeldMoney => ({
  class: name,
  money: { amount, currency: 'NGN' },
  surplusRefund: null,
  ...rest,
});
const decided = (decision: string, amount = 100n, rest: Partial<ReviewDecision> = {}): ReviewDecision => ({
  decision,
  refundNote: decision === 'refund' ? 'RF-1' : null,
  money: { amount, currency: 'NGN' },
  ...rest,
});

type Case = [
  name: string,
  shown: Order,
  held: HeldMoney[],
  decisions: ReviewDecision[],
  en: string[],
  fr: string[],
];
const review = order('review');
const cancelled = order('cancelled');
const late = order('expired', { isPastDeadline: true });
const sent = new Date('2026-11-22T08:00:00Z');

const CASES: Case[] = [
  [
    'too little',
    review,
    [held('underpaid', 100n)],
    [],
    [
      'We received NGN 1.00 of NGN 16,901.00. We are looking at it and will write to you.',
      'Do not pay again.',
    ],
    ['Nous avons reçu 1,00 NGN sur 16\u202f901,00 NGN.', 'Ne payez pas de nouveau.'],
  ],
  [
    'another currency',
    review,
    [held('currency_mismatch', 0n, { money: { amount: 500n, currency: 'XOF' } })],
    [],
    ['We received XOF 500 for an order of NGN 16,901.00.'],
    ['Nous avons reçu 500 XOF pour une commande de 16\u202f901,00 NGN.'],
  ],
  [
    'nothing that counts as money',
    review,
    [],
    [],
    ['What the payment service tells us does not match this order.'],
    ['ne correspond pas à cette commande.'],
  ],
  [
    'too much',
    review,
    [held('overpaid', 3_380_200n)],
    [],
    ['We received NGN 33,802.00 for an order of NGN 16,901.00. We will refund the NGN 16,901.00 too much.'],
    ['Nous rembourserons les 16\u202f901,00 NGN en trop.'],
  ],
  [
    'too much, and the surplus was sent back',
    review,
    [held('overpaid', 1_700_000n, { surplusRefund: 'RF-9' })],
    [],
    ['refunded the NGN 99.00 too much, number RF-9. As soon as'],
    ['remboursé les 99,00 NGN en trop, numéro RF-9.'],
  ],
  [
    'too much, refunded and delivered',
    order('paid'),
    [],
    [decided('earned', 1_700_000n, { surplusRefund: 'RF-9' })],
    ['Thank you, your order is paid', 'We refunded the NGN 99.00 that you had paid too much, number RF-9.'],
    ['Nous avons remboursé les 99,00 NGN que vous aviez payés en trop, numéro RF-9.'],
  ],
  [
    'too much, accepted after the surplus was sent back',
    order('paid'),
    [held('overpaid', 9_900n, { surplusRefund: 'RF-9' })],
    [],
    ['We refunded the NGN 99.00 that you had paid too much, number RF-9.'],
    ['Nous avons remboursé les 99,00 NGN que vous aviez payés en trop, numéro RF-9.'],
  ],
  [
    'charged again after paying',
    order('paid'),
    [held('charged_again', 250n)],
    [],
    ['confirmed the full amount. You paid NGN 2.50 more than this order costs.'],
    ['Vous avez payé 2,50 NGN de plus que le prix.'],
  ],
  [
    'too little, and enough for the shop',
    order('paid'),
    [],
    [decided('accept', 1_600_000n)],
    ['We accepted NGN 16,000.00 as the payment of this order.'],
    ['Nous avons accepté 16\u202f000,00 NGN comme paiement de cette commande.'],
  ],
  ['refunded', cancelled, [], [decided('refund')], ['We refunded NGN 1.00, number RF-1.'], ['Remboursée']],
  [
    'credited',
    cancelled,
    [],
    [decided('credit')],
    [
      'This order is closed',
      'We counted NGN 1.00 towards something else',
      'Write to us if you think otherwise.',
    ],
    ['Cette commande est close', 'Nous avons porté 1,00 NGN'],
  ],
  [
    'kept',
    cancelled,
    [],
    [decided('keep')],
    ['As agreed with you, we kept NGN 1.00.'],
    ['Comme convenu avec vous'],
  ],
  [
    'written off',
    cancelled,
    [],
    [decided('write_off')],
    ['We did not return NGN 1.00:'],
    ['n’avons pas rendu'],
  ],
  [
    'otherwise',
    cancelled,
    [],
    [decided('other')],
    ['We did not count NGN 1.00 as the payment'],
    ['pas retenu'],
  ],
  ['cancelled', cancelled, [], [], ['This order was cancelled'], ['Cette commande a été annulée']],
  [
    'cancelled, and paid afterwards',
    cancelled,
    [held('paid_after_cancel', 1_690_100n)],
    [decided('refund')],
    ['We received NGN 16,901.00 after this order was cancelled.', 'You do not need to do anything.'],
    ['après l’annulation de cette commande.'],
  ],
  [
    'paid after its deadline',
    late,
    [held('paid_after_deadline', 1_690_100n)],
    [],
    ['We received NGN 16,901.00 after the time to pay was over.'],
    ['après le délai de paiement.'],
  ],
  [
    'paid after its deadline, and refunded',
    late,
    [],
    [decided('refund', 1_690_100n)],
    ['Your payment was refunded', 'We refunded NGN 16,901.00, number RF-1.'],
    ['Votre paiement a été remboursé'],
  ],
  [
    'paid, and a part of it refunded',
    order('paid', { refunded: 250n, refundedAt: sent }),
    [],
    [],
    ['A part of your payment was refunded', 'Refunded NGN 2.50 on 22 November 2026 at 08:00 UTC.'],
    ['Une partie de votre paiement a été remboursée', 'Remboursé 2,50 NGN le 22 novembre 2026 à 08:00 UTC.'],
  ],
  [
    'accepted with less, and all that came refunded',
    order('paid', { came: 1_600_000n, refunded: 1_600_000n, refundedAt: sent }),
    [],
    [decided('accept', 1_600_000n)],
    ['Paid, refunded Your payment was refunded', 'Refunded NGN 16,000.00 on'],
    ['Payée, remboursée Votre paiement a été remboursé', 'Remboursé 16\u202f000,00 NGN le'],
  ],
];

test.each(CASES)('%s', (_name, shown, money, decisions, en, fr) => {
  const english = statusTextOf(shown, decisions, { held: money });
  const french = statusTextOf(shown, decisions, { held: money, words: FR, locale: 'fr' });
  const read = ({ heading, truth, advice, stamp }: typeof english): string =>
    [stamp, heading, truth, advice].join(' ');
  for (const text of en) expect(read(english)).toContain(text);
  for (const text of fr) expect(read(french)).toContain(text);
  // Each sentence once.
  const sentences = english.truth.split(/(?<=\.) /);
  expect(new Set(sentences).size).toBe(sentences.length);
  expect(english.pay).toBeNull();
});

test('the console, which knows no amounts, previews the same text in English', () => {
  expect(statusTextOf(review, [{ decision: 'refund', refundNote: 'RF-1' }]).truth).toBe(
    'We refunded your payment, number RF-1.',
  );
});

test('no language leaves out what a text is told to name', () => {
  const faults = (words: unknown, path: string): string[] => {
    if (typeof words === 'function') {
      const values = Array.from({ length: words.length }, (_none, at) => `«${at}»`);
      const text = String((words as (...of: string[]) => unknown)(...values));
      return values.every((value) => text.includes(value)) ? [] : [path];
    }
    if (typeof words === 'object' && words !== null)
      return Object.entries(words).flatMap(([key, word]) => faults(word, `${path}.${key}`));
    return words === '' ? [path] : [];
  };
  expect(faults(LANGUAGES, 'words')).toEqual([]);
  const braces = (words: Record<string, string>): string[] =>
    Object.entries(words).map(([key, word]) => [key, ...(word.match(/\{\w+\}/g) ?? [])].join(' '));
  for (const { script } of Object.values(LANGUAGES)) expect(braces(script)).toEqual(braces(EN.script));
});
