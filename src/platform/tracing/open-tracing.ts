import type { Logger } from '../logger.ts';
import type { TracingSettings } from './settings.ts';
import type { Tracing } from './tracing.ts';

/**
 * Loads OpenTelemetry if the standard variables ask for it.
 * @param logger called when there is something to log: its lines carry the fields that tracing adds
 * @returns null without settings: nothing is loaded then
 */
export async function openTracing(
  settings: TracingSettings | null,
  logger: () => Logger,
): Promise<Tracing | null> {
  if (settings === null) return null;
  const { createTracing } = await import('./sdk.ts');
  return createTracing(settings, (reason) => {
    if (reason === null) logger().info('traces are delivered again');
    else logger().warn({ reason }, 'traces cannot be delivered: they are lost, and nothing else is');
  });
}
