import prompt from './prompt.ts';

/** Its list lacks nothing of the last week. */
export default { ...prompt, history: { ...prompt.history, reachesBackDays: 7 } };
