import type { Clock } from '../platform/clock.ts';
import type { Alert, AlertHook, Told } from './alert.ts';

/** A day: then an alert of a state that goes on is sent again, also to hooks that have taken it. */
const FORGET_MS = 24 * 3_600_000;

/**
 * Several hooks as one: each gets each alert at least once. It fails while one of them fails, so the alert
 * comes again; who has taken it in this process is left out then.
 * @returns null when there is none
 */
export function allHooks(hooks: readonly (AlertHook | null)[], clock: Clock): AlertHook | null {
  const present = hooks.filter((hook) => hook !== null);
  if (present.length === 0) return null;
  const pending = new Map<string, { taken: Set<AlertHook>; atMs: number }>();

  return async (alert) => {
    const nowMs = clock.elapsedMs();
    for (const [name, { atMs }] of pending) if (nowMs - atMs >= FORGET_MS) pending.delete(name);
    const name = nameOf(alert);
    const { taken } = pending.get(name) ?? { taken: new Set<AlertHook>() };
    const left = present.filter((hook) => !taken.has(hook));
    pending.set(name, { taken, atMs: pending.get(name)?.atMs ?? nowMs });
    const tried = await Promise.allSettled(
      left.map(async (hook) => {
        await hook(alert);
        taken.add(hook);
      }),
    );
    const failed = tried.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    pending.delete(name);
  };
}

/** The same at each try: all of the alert but the time of the try. */
export function nameOf(alert: Alert & Told): string {
  return JSON.stringify({ ...alert, at: undefined });
}
