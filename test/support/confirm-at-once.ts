/**
 * A process of its own: composes the program and confirms one payment many times at once, when it is told to
 * (SIGUSR2).
 */
import { compose } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { Secret } from '../../src/platform/secret.ts';
import { loadPayment } from '../../src/payments/confirm.sql.ts';
import { asReference } from './ids.ts';
import './patient-pools.ts';

const [database = '', service = '', key = '', reference = '', times = '1'] = process.argv.slice(2);

const program = await compose({
  config: loadConfig({
    NODE_ENV: 'test',
    GATEWAY_CALLS_PER_SECOND: '0',
    GATEWAY_CONCURRENCY: '64',
  }),
  services: {
    databaseUrl: new Secret(database),
    gatewayUrl: new URL(service),
    secretKey: new SecretKey(key),
    webhookSecrets: [],
    sandboxUrl: service,
    receiveWebhooksAt: () => undefined,
    close: () => Promise.resolve(),
  },
  publicOrigin: () => 'http://127.0.0.1',
  logger: createLogger('silent'),
});
const payment = await loadPayment(program.database, asReference(reference), 'test');
if (payment === null) throw new Error('no such payment');
const told = new Promise<void>((resolve) => {
  process.once('SIGUSR2', resolve);
});
// A promise alone keeps no process alive.
const alive = setInterval(() => undefined, 1_000);
process.stdout.write('ready\n');
await told;
clearInterval(alive);
const ends = await Promise.allSettled(
  Array.from({ length: Number(times) }, () => program.confirm(payment, 'webhook')),
);
const done = ends.filter((end) => end.status === 'fulfilled');
const errors = ends.filter((end) => end.status === 'rejected').map(({ reason }) => String(reason));
const paid = done.filter(({ value }) => value.status === 'paid').length;
const released = done.filter(({ value }) => value.released).length;
process.stdout.write(`${JSON.stringify({ paid, released, errors: [...new Set(errors)] })}\n`);
await program.close();
