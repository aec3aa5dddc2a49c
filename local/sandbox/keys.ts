/** Test and live are two worlds: nothing of one can be seen with a key of the other. */
export const MODES = ['test', 'live'] as const;

export type Mode = (typeof MODES)[number];

/** The stand-in's own keys. They open nothing anywhere else and are made to be read aloud. */
export const SANDBOX_TEST_KEY = 'sk_test_sandbox_no_real_money';
export const SANDBOX_LIVE_KEY = 'sk_live_sandbox_no_real_money';

/** Signs the stand-in's webhooks unless another secret is given. */
export const SANDBOX_WEBHOOK_SECRET = 'whsec_sandbox_no_real_money';

/** Answers the mode of a key, or null for a key that is not valid here. */
export type KeyRing = (key: string | undefined) => Mode | null;

/**
 * @param extraKeys keys that are valid beside the two of the stand-in
 * @throws {Error} when a key has neither of the two prefixes
 */
export function createKeyRing(extraKeys: readonly string[]): KeyRing {
  const modes = new Map([SANDBOX_TEST_KEY, SANDBOX_LIVE_KEY, ...extraKeys].map((key) => [key, modeOf(key)]));
  return (key) => (key === undefined ? null : (modes.get(key) ?? null));
}

function modeOf(key: string): Mode {
  if (key.startsWith('sk_test_')) return 'test';
  if (key.startsWith('sk_live_')) return 'live';
  throw new Error('an extra sandbox key starts with neither sk_test_ nor sk_live_');
}
