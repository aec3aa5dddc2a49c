/** What was typed is no window. The message says what to type. */
export class WindowError extends Error {}

const INSTANT = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?)?$/i;

/**
 * The window of a run: it includes `since` and excludes `until`. A date alone begins at midnight UTC. A
 * time must name its zone: without one it would mean another moment on another machine.
 * @throws {WindowError}
 */
export function windowOf(
  since: string | undefined,
  until: string | undefined,
): { since: Date | undefined; until: Date | undefined } {
  const window = { since: instantOf('--since', since), until: instantOf('--until', until) };
  if (window.since !== undefined && window.until !== undefined && window.since >= window.until)
    throw new WindowError(`--since must lie before --until: type --since ${until} --until ${since}`);
  return window;
}

function instantOf(option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const [, day, time, zone] = INSTANT.exec(text) ?? [];
  if (day === undefined) throw new WindowError(`${option} must be an ISO time like 2026-01-31T00:00:00Z`);
  if (time !== undefined && zone === undefined)
    throw new WindowError(`${option} ${text} names no time zone: type ${option} ${text}Z for UTC`);
  const [instant, midnight] = [new Date(text), new Date(`${day}T00:00:00Z`)];
  const isKnown = !Number.isNaN(instant.getTime()) && !Number.isNaN(midnight.getTime());
  // JavaScript takes the 30th of February for the 2nd of March.
  if (!isKnown || !midnight.toISOString().startsWith(day))
    throw new WindowError(`${option} ${text} is no time of the calendar`);
  return instant;
}
