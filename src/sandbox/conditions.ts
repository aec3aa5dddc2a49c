/** What is wrong with the service at the moment. A test sets it over the control routes; nothing sets itself back. */
export type Conditions = {
  /** Every call is answered 401, as after a key was revoked. */
  areKeysRefused: boolean;
  /** Every call is answered with this status and is not carried out; null: the service is up. */
  outageStatus: number | null;
  /** Each answer under /v1 waits this long, in milliseconds. */
  readonly latencyMs: number;
};

export function createConditions(latencyMs: number): Conditions {
  return { areKeysRefused: false, outageStatus: null, latencyMs };
}

export function heal(conditions: Conditions): void {
  conditions.areKeysRefused = false;
  conditions.outageStatus = null;
}
