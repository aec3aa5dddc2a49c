import type { Identity } from '../identity.ts';

/**
 * The line to replace before a shopper sees a page, for example
 * `export const identity: Identity | null = { name: 'The Lamp Shop', helpEmail: 'help@lamps.example' };`
 * While it is null the pages bear the demo shop's name.
 */
export const identity: Identity | null = null;
