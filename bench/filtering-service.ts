import adapter from '../local/sandbox-adapter.ts';

/** The default adapter of a service whose list filters by time. */
export default { ...adapter, history: { ...adapter.history, filters: true } };
