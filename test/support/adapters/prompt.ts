import adapter from '../../../local/sandbox-adapter.ts';

/** Its history has no lag: it shows a payment at once. */
export default { ...adapter, history: { ...adapter.history, lagMin: 0 } };
