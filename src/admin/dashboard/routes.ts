import { sendPage } from '../../platform/html.tsx';
import { openCaseCounts } from '../cases/cases.sql.ts';
import type { AdminParts } from '../admin-parts.ts';
import { confirmedDays, wentBackDays } from '../../reporting/money-by-day.sql.ts';
import { EVERY_CURRENCY, stoppedCurrencies } from '../../payments/currency-stops.sql.ts';
import { lastIntegrityCheck } from '../../reporting/integrity.sql.ts';
import { payableCurrency } from '../../platform/currencies.ts';
import { moneyLines } from './money-table.tsx';
import {
  lastRun,
  MAX_COUNTED,
  openMoney,
  openSuspenseSums,
  undeliveredCounts,
  webhookSilence,
} from '../../reporting/shop-state.sql.ts';
import { TodayPage } from './dashboard-page.tsx';

/** What is the state of the money, and what must an operator do? */
export function todayRoutes({ gateway, show, act, workerWatch, checkoutStops }: AdminParts): void {
  const { mode } = gateway;
  show('/admin', async (_req, res, { database, frame }) => {
    const [confirmed, wentBack, waiting, suspense] = await Promise.all([
      confirmedDays(database, mode, 1),
      wentBackDays(database, mode, 1),
      openMoney(database, mode, true),
      openSuspenseSums(database, mode),
    ]);
    const [cases, run, silence, undelivered, stops] = await Promise.all([
      openCaseCounts(database, mode),
      lastRun(database, mode),
      webhookSilence(database, mode),
      undeliveredCounts(database, mode),
      stoppedCurrencies(database, mode),
    ]);
    const today = {
      frame,
      money: moneyLines({ confirmed, wentBack, waiting, suspense }),
      isWaitingCut: waiting.reduce((all, { payments }) => all + payments, 0) >= MAX_COUNTED,
      service: gateway.health(),
      worker: await workerWatch.state(),
      integrity: await lastIntegrityCheck(database),
    };
    sendPage(res, TodayPage({ ...today, cases, run, silence, undelivered, stops }));
  });
  act(
    '/admin/checkouts',
    () => '/admin',
    async ({ ids: [id = ''], operation, by, note }) => {
      const currency = id === EVERY_CURRENCY ? id : payableCurrency(id);
      if (currency === null) return { 'no-currency': 1 };
      const request = { currency, by, note };
      if (operation === 'stop')
        return (await checkoutStops.stop(request)) ? { stopped: 1 } : { 'is-stopped': 1 };
      if (operation !== 'resume' && operation !== 'release') return { 'no-action': 1 };
      const goesOn = await checkoutStops.resume(request, operation === 'release');
      return goesOn ? { 'goes-on': 1 } : { gone: 1 };
    },
  );
}
