import { at } from '../../../src/gateway/adapter-helpers.ts';
import service from '../../../local/sandbox-adapter.ts';

/** Throws the text that an answer has in `shout`. */
const refuseShouts = (answer: unknown): void => {
  const shout = at(answer, 'shout');
  if (typeof shout === 'string') throw new Error(shout);
};

export default {
  ...service,
  initialize: {
    checkoutUrl: (answer: unknown) => {
      refuseShouts(answer);
      return service.initialize.checkoutUrl(answer);
    },
  },
  read: (record: unknown) => {
    refuseShouts(record);
    return service.read(record);
  },
};
