import adapter from '../../../local/sandbox-adapter.ts';

/** Its list may lack what happened in the last day. */
export default { ...adapter, history: { ...adapter.history, lagMin: 1_440 } };
