import { at, text } from '../../../src/gateway/adapter-helpers.ts';
import prompt from './prompt.ts';

/**
 * Throws a status that begins with `quote`, with the whole record, and accepts one that begins with
 * `pass`.
 */
export default {
  ...prompt,
  initialize: {
    checkoutUrl: (answer: unknown) => {
      if (text(at(answer, 'message'))?.startsWith('quote') === true)
        throw new Error(`no address: ${JSON.stringify(answer)}`);
      return prompt.initialize.checkoutUrl(answer);
    },
  },
  read: (record: unknown) => {
    const reading = prompt.read(record);
    const word = text(at(record, 'status')) ?? '';
    if (word.startsWith('quote')) throw new Error(`no such status: ${word}, of ${JSON.stringify(record)}`);
    return reading && word.startsWith('pass') ? { ...reading, status: word } : reading;
  },
};
