import type { Logger } from '../logger.ts';
import type { TracingSettings } from './settings.ts';
import type { Tracing } from './tracing.ts';

/**
 * Loads OpenTelemetry if the standard variables ask for it.
 * @param logger asked for when there is something to say: its lines carry the fields that come from here
 * @returns null when nobody asks: nothing is loaded then
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
