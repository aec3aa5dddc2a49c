// Loaded before a server: on SIGUSR2 it says how long its longest garbage collection since the last one took.
import { PerformanceObserver } from 'node:perf_hooks';

let longestMs = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longestMs = Math.max(longestMs, duration);
}).observe({ entryTypes: ['gc'] });
process.on('SIGUSR2', () => {
  process.stdout.write(`pause ${longestMs}\n`);
  longestMs = 0;
});
