import type { ShopCommand } from '../extensions.ts';

/**
 * The line to replace for commands of your own, for example
 * `export const commands: Readonly<Record<string, ShopCommand>> = { 'paid-yesterday': paidYesterday };`
 * Each needs a line in `scripts` of package.json.
 */
export const commands: Readonly<Record<string, ShopCommand>> = {};
