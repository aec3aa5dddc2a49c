import { openDatabase } from '../../src/platform/database/database.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { Secret } from '../../src/platform/secret.ts';
import { SANDBOX_TEST_KEY } from '../../local/sandbox/keys.ts';
import { checkInvariants } from '../../test/support/invariants.ts';
import type { World } from './world.ts';

/** Everything that does not hold after a run, one line each. @param passes how often everything was made due */
export async function violationsOf(world: World, passes: number): Promise<string[]> {
  const database = openDatabase(new Secret(world.databaseUrl), createLogger('silent'));
  const { exchanges, url } = world.front;
  const acknowledged = exchanges
    .filter(
      ({ path, status, endedMs }) => path === '/webhooks/payments' && status === 202 && endedMs !== null,
    )
    .map(({ asked }) => asked.body);
  const nodes = Object.values(world.nodes);
  try {
    const lines = await checkInvariants({
      database,
      sandboxUrl: world.service.url,
      sink: world.receiver.deliveries,
      acknowledged,
      logs: nodes.flatMap((node) => node.said().split('\n')),
      key: SANDBOX_TEST_KEY,
      passes,
      rightTime: (told) => world.postgres.rightTime(told),
      // Calls and connections are made in other processes: of those only what the stand-in saw is judged.
      traffic: {
        exchanges,
        calls: [],
        sockets: [],
        own: url,
        service: new URL(world.service.url).origin,
        mayConnectTo: [],
        concurrency: Infinity,
      },
    });
    return [
      ...lines,
      ...exchanges
        .filter(({ status, endedMs }) => status === 500 && endedMs !== null)
        .map(({ method, path, body }) => `unexpected: ${method} ${path} was answered 500: ${body}`),
      ...nodes.flatMap(({ surprises }) => surprises),
    ];
  } finally {
    await database.close();
  }
}
