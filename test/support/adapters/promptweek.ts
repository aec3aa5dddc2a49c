import prompt from './prompt.ts';

/** Its history has no lag, and reaches back a week. */
export default { ...prompt, history: { ...prompt.history, reachesBackDays: 7 } };
