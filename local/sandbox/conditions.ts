import { DEFAULT_PROFILE, PROFILES, type ProfileName } from './profiles/all.ts';
import type { Profile } from './profiles/profile.ts';
import type { RateForm } from './profiles/shapes/too-many.ts';

/** How the service is at the moment: who it plays, and what is wrong with it. Nothing sets itself back. */
export type Conditions = {
  profileName: ProfileName;
  /** A service that has no name, as a test makes them; it is played instead. */
  readonly unnamed: Profile | null;
  /** Every call is answered 401, as after a key was revoked. */
  areKeysRefused: boolean;
  /** Every call is answered with this status and is not carried out; null: the service is up. */
  outageStatus: number | null;
  /** Null: as many calls as anybody likes. */
  limit: Limit | null;
  /** Each answer under /v1 waits this long, in milliseconds. */
  readonly latencyMs: number;
};

/** What is above `callsPerSecond` is refused: until the next second, or for `lockOutSec`. */
export type Limit = { callsPerSecond: number; form: RateForm | null; lockOutSec: number | null };

export function createConditions(
  profile: ProfileName | Profile = DEFAULT_PROFILE,
  latencyMs = 0,
): Conditions {
  const [profileName, unnamed] = typeof profile === 'string' ? [profile, null] : [DEFAULT_PROFILE, profile];
  return { profileName, unnamed, areKeysRefused: false, outageStatus: null, limit: null, latencyMs };
}

export function profileOf({ profileName, unnamed }: Conditions): Profile {
  return unnamed ?? PROFILES[profileName];
}

/** Good weather again; who it plays stays. */
export function heal(conditions: Conditions): void {
  conditions.areKeysRefused = false;
  conditions.outageStatus = null;
  conditions.limit = null;
}
