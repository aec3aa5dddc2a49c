import { ClientError } from '../../src/gateway/errors.ts';
import { createClient } from '../../src/gateway/http/client.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';

// A process of its own, because Node reads the authorities it trusts (NODE_EXTRA_CA_CERTS) once, at its
// start. Calls each address of the command line, and prints one line of JSON: what became of each call.
const limits = { headersMs: 4_000, totalMs: 5_000, maxBytes: 1_024 };
const results: string[] = [];
for (const url of process.argv.slice(2)) {
  const client = createClient(new URL(url), new SecretKey('sk_test_c4n4ry'), 1);
  const result = await client.call({ method: 'POST', path: '/', body: '{}', ...limits }).then(
    ({ status }) => `HTTP ${status}`,
    (error: unknown) =>
      error instanceof ClientError ? `${error.sent ? 'sent' : 'not sent'}: ${error.message}` : String(error),
  );
  results.push(result);
  await client.close();
}
process.stdout.write(`${JSON.stringify(results)}\n`);
