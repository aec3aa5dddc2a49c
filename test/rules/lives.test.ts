import { expect, test } from '@jest/globals';
import { LedgerShop } from './ledger-shop.ts';
import { liveMany, PRICE } from './lives.ts';

const shopOf = (): LedgerShop => new LedgerShop(PRICE);

test('in 1,500 plain lives no case opens', () => {
  expect(liveMany(1, 1_500, 'plain', shopOf).seeds).toEqual([]);
});

test('in 1,000 lives at a service as documented, no loss is hidden and no case is false', () => {
  const { endings } = liveMany(1, 1_000, 'documented', shopOf);
  expect({ ...endings, right: 0 }).toEqual({
    'hidden loss': 0,
    'loss behind a decision': 0,
    'hidden debt': 0,
    'false case': 0,
    right: 0,
  });
});

test('in 1,500 hard lives no loss is hidden, and few debts are', () => {
  const { endings } = liveMany(1_000, 1_500, 'hard', shopOf);
  expect(endings).toMatchObject({ 'hidden loss': 0, 'loss behind a decision': 0, 'false case': 0 });
  expect(endings['hidden debt']).toBeLessThanOrEqual(8);
});
