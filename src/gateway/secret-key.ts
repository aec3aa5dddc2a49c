import type { Mode } from '../platform/mode.ts';
import { Secret } from '../platform/secret.ts';

/** The service's secret key. Its prefix decides the mode of the process; it is sent only in `x-api-key`. */
export class SecretKey extends Secret {
  readonly mode: Mode;

  constructor(value: string) {
    super(value);
    this.mode = value.startsWith('sk_live_') ? 'live' : 'test';
  }
}
