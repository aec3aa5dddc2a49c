import { nameOfStopped, wordOfStopped } from '../payments/checkout-stops.ts';
import { EVERY_CURRENCY, readCheckoutStops } from '../payments/checkout-stops.sql.ts';
import { payableCurrency } from '../platform/money.ts';
import { WorkListError, type ListCommand, type Subcommand } from './work-list.ts';

/** ALL is the Albanian lek, so the word for all currencies is another. */
const EVERYTHING = wordOfStopped(EVERY_CURRENCY);

/** Ends the stop by hand and the one by a payment. */
const RESUME: Subcommand = {
  usage: 'resume <currency or "everything"> --note "why" --by "your name"',
  needs: ['note'],
  perform: async ({ checkoutStops }, { id, by, note = '' }) => {
    const isDone = await checkoutStops.resume({ currency: currencyOf(id), by, note }, true);
    return { isDone, told: isDone ? 'New checkouts begin again.' : 'That is not stopped.' };
  },
};

/** The stops of new checkouts: by payments that came in another unit, and by hand. */
export const CURRENCIES: ListCommand = {
  name: 'currencies',
  empty: 'No currency is stopped.',
  headings: ['currency', 'stopped', 'by'],
  id: /^([A-Za-z]{3}|everything)$/,
  list: async ({ database, gateway }) =>
    (await readCheckoutStops(database, gateway.mode)).map((stop) => ({
      cells: [
        wordOfStopped(stop.currency),
        stop.stoppedAt.toISOString(),
        stop.reason === null ? `payment ${stop.reference}` : stop.stoppedBy,
      ],
      below: stop.reason === null ? [] : [stop.reason],
      json: stop,
    })),
  subcommands: {
    stop: {
      usage: 'stop <currency or "everything"> --note "why" --by "your name"',
      needs: ['note'],
      perform: async ({ checkoutStops }, { id, by, note = '' }) => {
        const currency = currencyOf(id);
        const isDone = await checkoutStops.stop({ currency, by, note });
        return {
          isDone,
          told: isDone ? `No new checkout begins in ${nameOfStopped(currency)}.` : 'It is stopped already.',
        };
      },
    },
    resume: RESUME,
    // The word that this had before, for what is written down elsewhere.
    release: RESUME,
  },
};

function currencyOf(id: string): string {
  if (id === EVERYTHING) return EVERY_CURRENCY;
  if (/^all$/i.test(id) && id !== 'ALL')
    throw new WorkListError(
      `ALL is the Albanian lek: type ${EVERYTHING} for all, ALL in capitals for the lek`,
    );
  const currency = payableCurrency(id);
  if (currency === null) throw new WorkListError(`"${id}" is no currency that people pay in`);
  return currency;
}
