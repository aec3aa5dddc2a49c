import adapter from '../../../local/sandbox-adapter.ts';

/** Throws an error that quotes the unreadable record. */
export default {
  ...adapter,
  read: (record: unknown) => {
    throw new Error(`cannot read what ada@example.com paid: ${JSON.stringify(record)}`);
  },
};
