import type { ServiceAdapter } from '../../../src/gateway/adapter.ts';
import { at, figure, rows, text } from '../../../src/gateway/adapter-helpers.ts';
import prompt from './prompt.ts';

/** The prompt service, with payouts and balances. */
export default {
  ...prompt,
  transfers: {
    ...{ first: () => '/v1/transfers?page=1', rows: prompt.history.rows, next: prompt.history.next },
    read: (row) => {
      const [id, amount, currency] = [text(at(row, 'id')), figure(at(row, 'amount')), text(at(row, 'currency'))];
      return id === null || amount === null || currency === null ? null : { id, amount, currency, at: null };
    },
  },
  balances: {
    path: '/v1/balances',
    read: (answer) => {
      const all = rows(at(answer, 'data'))?.map((one) => {
        return { currency: text(at(one, 'currency')) ?? '', amount: figure(at(one, 'amount')) ?? '' };
      });
      return all ?? null;
    },
  },
} satisfies ServiceAdapter;
