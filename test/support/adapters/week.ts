import shared from './shared.ts';

/** Its list reaches back a week. */
export default { ...shared, history: { ...shared.history, reachesBackDays: 7 } };
