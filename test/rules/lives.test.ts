import { expect, test } from '@jest/globals';
import { LedgerShop } from './ledger-shop.ts';
import { liveMany, PRICE } from './lives.ts';

const shopOf = (): LedgerShop => new LedgerShop(PRICE);

test('no case opens in 1,500 plain lives', () => {
  expect(liveMany(1, 1_500, 'plain', shopOf).seeds).toEqual([]);
});

test('no loss is hidden and no case is false in 1,000 lives at a service that works as documented', () => {
  const { endings } = liveMany(1, 1_000, 'documented', shopOf);
  expect({ ...endings, right: 0 }).toEqual({
    'hidden loss': 0,
    'loss behind a decision': 0,
    'hidden debt': 0,
    'false case': 0,
    right: 0,
  });
});

test('no loss and few debts are hidden in 1,500 difficult payment sequences', () => {
  const { endings } = liveMany(1_000, 1_500, 'hard', shopOf);
  expect(endings).toMatchObject({ 'hidden loss': 0, 'loss behind a decision': 0, 'false case': 0 });
  expect(endings['hidden debt']).toBeLessThanOrEqual(8);
});
