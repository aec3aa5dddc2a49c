import adapter from '../../../local/sandbox-adapter.ts';

/** It throws, and quotes what it cannot read. */
export default {
  ...adapter,
  read: (record: unknown) => {
    throw new Error(`cannot read what ada@example.com paid: ${JSON.stringify(record)}`);
  },
};
