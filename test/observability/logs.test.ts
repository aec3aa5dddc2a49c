import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { keepLines } from '../support/lines.ts';
import { startProgram, type TestProgram } from '../support/program.ts';

type Line = { msg: string; reference?: string; orderId?: string };
const { logger, lines } = keepLines();
let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ logger });
});
afterAll(() => shop.close());

const sql = (text: string, ...values: unknown[]) => shop.program.database.query(text, values);

test('whatever happens to a payment, its reference and its order stand in the line', async () => {
  const { orderId, reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  // First the service is away, then the database refuses the answer, then all is well.
  await shop.hand('outage', { status: 503 });
  const check = async (): Promise<number> => {
    await sql(
      'UPDATE payments SET next_check_at = now(), leased_until = NULL WHERE reference = $1',
      reference,
    );
    return shop.program.duePayments.runOnce();
  };
  await check();
  await shop.hand('outage', { status: null });
  await sql(`ALTER TABLE verifications ADD CONSTRAINT nobody CHECK (id < 0) NOT VALID`);
  await check();
  await sql(`ALTER TABLE verifications DROP CONSTRAINT nobody`);
  await check();
  const story = lines
    .map((line) => JSON.parse(line) as Line)
    .filter(({ msg }) => /^(check|work|order|payment|release|checkout)/.test(msg));
  expect(story.map(({ msg }) => msg)).toEqual([
    'checkout opened',
    'check postponed',
    'work on a due row failed',
    'order is paid',
  ]);
  for (const line of story) expect(line).toMatchObject({ reference, orderId });
});
