import { Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import type { Gateway } from '../gateway/gateway.ts';
import type { Queryable } from '../platform/database.ts';
import { countStates } from './repository.ts';

export type Metrics = { contentType: string; text(): Promise<string> };

/** Counted in the database at the time of asking, so that every node tells the same and a restart forgets nothing. */
export function createMetrics({ database, gateway }: { database: Queryable; gateway: Gateway }): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const rows = new Gauge({
    name: 'integrator_rows',
    help: 'Rows by kind (orders, payments, releases, open findings, open suspense, stopped currencies) and state',
    labelNames: ['kind', 'state', 'mode'],
    registers: [registry],
  });
  const refused = new Gauge({
    name: 'integrator_gateway_key_refused',
    help: '1 while the payment service refuses the secret key',
    registers: [registry],
  });
  const dead = new Gauge({
    name: 'integrator_dead_releases',
    help: 'Releases that were given up after three days: npm run releases -- redeliver',
    registers: [registry],
  });
  const { mode } = gateway;
  return {
    contentType: registry.contentType,
    text: async () => {
      const counts = await countStates(database, mode);
      rows.reset();
      for (const { kind, state, count } of counts) rows.set({ kind, state, mode }, Number(count));
      const givenUp = counts.find(({ kind, state }) => kind === 'releases' && state === 'dead');
      dead.set(Number(givenUp?.count ?? 0));
      refused.set(gateway.isKeyRefused() ? 1 : 0);
      return registry.metrics();
    },
  };
}
