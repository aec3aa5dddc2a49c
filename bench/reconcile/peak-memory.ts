/** Loaded before a program: tells on channel 3, when it ends, how much memory it ever held (bytes) and its CPU time (s). */
import { writeSync } from 'node:fs';

process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  writeSync(3, JSON.stringify({ peakBytes: maxRSS * 1_024, cpuSec: (userCPUTime + systemCPUTime) / 1e6 }));
});
