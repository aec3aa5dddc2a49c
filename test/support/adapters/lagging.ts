import adapter from '../../../local/sandbox-adapter.ts';

/** Its history may lack the last day. */
export default { ...adapter, history: { ...adapter.history, lagMin: 1_440 } };
