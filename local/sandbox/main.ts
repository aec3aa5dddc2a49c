import { startSandbox } from './sandbox.ts';

/*
 * npm run sandbox: the sandbox alone, to make calls by hand or to develop an integration against
 * it.
 */

const {
  SANDBOX_PORT: port = '4010',
  SANDBOX_KEY: key = 'sk_test_sandbox_no_real_money',
  SANDBOX_WEBHOOK_URL: webhookUrl = 'http://127.0.0.1:3000/webhooks/payments',
  SANDBOX_WEBHOOK_SECRET: webhookSecret = 'sandbox_no_real_money',
} = process.env;

try {
  const sandbox = await startSandbox({
    port: Number(port),
    key,
    webhookUrl: webhookUrl || null,
    webhookSecret: webhookSecret || null,
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void sandbox.close());
  process.stdout.write(greeting(sandbox.url));
} catch (error) {
  process.stderr.write(`The sandbox cannot listen on SANDBOX_PORT ${port}: ${(error as Error).message}\n`);
  process.exitCode = 1;
}

function greeting(url: string): string {
  const initialize =
    '{"email": "ada@example.com", "amount": 25, "localCurrency": "NGN", "amountCurrency": "local", ' +
    '"reference": "order-1", "redirectUrl": "http://127.0.0.1:3000/"}';
  const withKey = `-H "x-api-key: ${process.env.SANDBOX_KEY === undefined ? key : '$SANDBOX_KEY'}"`;
  return `Payment sandbox at ${url}/sandbox/ (no real money; everything is kept in memory)
Webhooks: ${webhookUrl || 'none; set SANDBOX_WEBHOOK_URL'}. The head of local/sandbox/control.ts describes the control

# open a payment, verify it, list all
curl ${withKey} -H 'content-type: application/json' -d '${initialize}' ${url}/v1/transactions/initialize
curl ${withKey} ${url}/v1/transactions/verify/order-1
curl ${withKey} ${url}/v1/transactions/history
# pay it, and lose the webhook; give a part back
curl -d '{"webhook": "lost"}' ${url}/sandbox/transactions/order-1/pay
curl -d '{"amount": "12.50"}' ${url}/sandbox/transactions/order-1/reverse
# break the connection of the next verify; see the calls that came; forget everything
curl -d '{"endpoint": "verify", "kind": "lost-after"}' ${url}/sandbox/faults
curl '${url}/sandbox/calls?reference=order-1'
curl -X POST ${url}/sandbox/reset
`;
}
