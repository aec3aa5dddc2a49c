import service from '../../../local/sandbox-adapter.ts';

/** Does not know the service's status word for paid. */
export default {
  ...service,
  read: (record: unknown) => {
    const reading = service.read(record);
    return reading?.status === 'paid' ? { ...reading, status: 'unknown' as const } : reading;
  },
};
