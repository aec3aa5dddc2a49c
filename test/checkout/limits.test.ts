import { expect, test } from '@jest/globals';
import { aBasket, post, startProgram } from '../support/program.ts';

test('one address starts so many checkouts a minute, whoever it says that it buys for; the next address as many', async () => {
  const shop = await startProgram({ env: { CHECKOUTS_PER_MINUTE: '3' } });
  try {
    const buy = async (address: string, shopper: number): Promise<Response> =>
      fetch(`${shop.origin}/checkout`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
        body: JSON.stringify({ ...aBasket, email: `shopper${shopper}@example.com` }),
      });
    const answers: Response[] = [];
    for (let shopper = 0; shopper < 4; shopper += 1) answers.push(await buy('203.0.113.1', shopper));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 429]);
    expect(Number(answers[3]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await buy('203.0.113.2', 4)).status).toBe(201);
    // Who asks from here has no such header, and what cannot be read counts as well.
    for (const email of ['', 'a', 'b']) await post(`${shop.origin}/checkout`, { ...aBasket, email });
    expect((await post(`${shop.origin}/checkout`, aBasket)).status).toBe(429);
    expect(await shop.program.database.query('SELECT count(*)::int AS orders FROM orders')).toEqual([
      { orders: 4 },
    ]);
  } finally {
    await shop.close();
  }
});
