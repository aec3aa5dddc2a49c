import shared from './shared.ts';

/** Its history reaches back a week. */
export default { ...shared, history: { ...shared.history, reachesBackDays: 7 } };
