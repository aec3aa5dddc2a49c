import adapter from '../local/sandbox-adapter.ts';

/** The sandbox's adapter for a service whose history filters by time. */
export default { ...adapter, history: { ...adapter.history, filters: true } };
