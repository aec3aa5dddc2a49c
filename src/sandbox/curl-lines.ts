/** One command per call, ready to paste. Shown on the overview page and printed by `npm run sandbox`. */
export function curlLines(baseUrl: string, key: string): { title: string; command: string }[] {
  const body = JSON.stringify({
    email: 'ada@example.com',
    amount: 25,
    localCurrency: 'NGN',
    amountCurrency: 'local',
    reference: 'order-1',
    redirectUrl: 'http://localhost:3000/',
  });
  const withKey = `-H 'x-api-key: ${key}'`;
  return [
    {
      title: 'Open a checkout',
      command: `curl ${baseUrl}/v1/transactions/initialize ${withKey} -H 'content-type: application/json' -d '${body}'`,
    },
    { title: 'Verify it', command: `curl ${baseUrl}/v1/transactions/verify/order-1 ${withKey}` },
    {
      title: 'List history',
      command: `curl '${baseUrl}/v1/transactions/history?page=1&limit=20' ${withKey}`,
    },
    { title: 'Pay it by hand', command: `curl -X POST ${baseUrl}/sandbox/transactions/order-1/pay` },
    {
      title: 'Take another 12.50, and lose its webhook',
      command: `curl ${baseUrl}/sandbox/transactions/order-1/pay -d '{"amount":"12.50","notify":false}'`,
    },
    { title: 'See every payment taken', command: `curl ${baseUrl}/sandbox/transactions` },
  ];
}
