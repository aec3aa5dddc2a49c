import type { ShopRoutes } from '../extensions.ts';

/**
 * The line to replace for addresses of your own, for example
 * `export const routes: ShopRoutes | null = { prefix: '/lamps', create: ({ database }) => stock(database) };`
 * While it is null there are none.
 */
export const routes: ShopRoutes | null = null;
