import type { Receiver } from '../../src/fulfilment/deliver.ts';

/**
 * Replaces src/custom/fulfilment.ts in the programs of the tests. Exports no receiver, unless
 * OWN_RECEIVER is a URL. Then the shop's own function sends each message there, and never returns
 * when the answer is 202.
 */
export const createReceiver = (): Receiver | null => {
  const { OWN_RECEIVER = '' } = process.env;
  if (OWN_RECEIVER === '') return null;
  return ({ id, body }) => {
    // Throws at once, and does not reject a promise.
    if (body.includes('"thrower"')) throw new Error('thrown at once');
    return ask({ id, body });
  };

  async function ask({ id, body }: { id: string; body: string }): Promise<void> {
    const { status } = await fetch(OWN_RECEIVER, { method: 'POST', headers: { 'webhook-id': id }, body });
    if (status === 202) await new Promise(() => undefined);
    if (status > 299) throw new Error(`the shop’s own function got HTTP ${status}`);
  }
};
