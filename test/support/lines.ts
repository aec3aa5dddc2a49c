import { createLogger, type Logger } from '../../src/platform/logger.ts';

/** A logger of everything that keeps its lines. */
export function keepLines(): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  return { logger: createLogger('trace', { write: (line) => void lines.push(line) }), lines };
}
