import prompt from './prompt.ts';

/** Throws an error that quotes the key. */
export default {
  ...prompt,
  authorize: (key: string) => {
    throw new Error(`no header can be made of ${key}`);
  },
};
