import type { Receiver } from '../../src/fulfilment/deliver.ts';

/**
 * Stands in for src/custom/fulfilment.ts in the programs of the tests. None, unless OWN_RECEIVER is
 * an address: then the shop's own function, which asks there with every message, and never returns
 * where the answer is 202.
 */
export const createReceiver = (): Receiver | null => {
  const { OWN_RECEIVER = '' } = process.env;
  if (OWN_RECEIVER === '') return null;
  return ({ id, body }) => {
    // Not a promise that is rejected: thrown at once.
    if (body.includes('"thrower"')) throw new Error('thrown at once');
    return ask({ id, body });
  };

  async function ask({ id, body }: { id: string; body: string }): Promise<void> {
    const { status } = await fetch(OWN_RECEIVER, { method: 'POST', headers: { 'webhook-id': id }, body });
    if (status === 202) await new Promise(() => undefined);
    if (status > 299) throw new Error(`the shop’s own function got HTTP ${status}`);
  }
};
