import { expect, test } from '@jest/globals';
import { LedgerShop } from './ledger-shop.ts';
import { liveMany, PRICE } from './lives.ts';

const shopOf = (): LedgerShop => new LedgerShop(PRICE);

test('no case opens in 20,000 plain lives', () => {
  expect(liveMany(1, 20_000, 'plain', shopOf).seeds).toEqual([]);
});

test('the numbers of wrong endings stay within their bounds in 20,000 difficult payment sequences', () => {
  const { endings } = liveMany(1, 20_000, 'hard', shopOf);
  expect(endings['hidden loss']).toBeLessThanOrEqual(8);
  expect(endings['loss behind a decision']).toBeLessThanOrEqual(4);
  expect(endings['hidden debt']).toBeLessThanOrEqual(90);
  expect(endings['false case']).toBeLessThanOrEqual(20);
});
