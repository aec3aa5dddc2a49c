/** A number from 0 to below 1. */
export type Random = () => number;

const MAX_SHARE = 0.1;

/** Up to a tenth longer, so that clients that begin to wait together do not all come back together. */
export function jittered(pause: number, random: Random = Math.random): number {
  return pause * (1 + MAX_SHARE * random());
}
