import type { Profile } from './profiles/profile.ts';

/** One command per call, ready to paste. Shown on the overview page and printed by `npm run sandbox`. */
export function curlLines(
  baseUrl: string,
  key: string,
  { unit, balances, transfers }: Profile,
): { title: string; command: string }[] {
  const body = JSON.stringify({
    email: 'ada@example.com',
    amount: unit === 'minor' ? 2500 : 25,
    localCurrency: 'NGN',
    amountCurrency: 'local',
    reference: 'order-1',
    redirectUrl: 'http://localhost:3000/',
  });
  const withKey = `-H 'x-api-key: ${key}'`;
  const post = (path: string, fields: object): string =>
    `curl ${baseUrl}/sandbox/${path} -d '${JSON.stringify(fields)}'`;
  return [
    {
      title: 'Open a checkout',
      command: `curl ${baseUrl}/v1/transactions/initialize ${withKey} -H 'content-type: application/json' -d '${body}'`,
    },
    { title: 'Verify it', command: `curl ${baseUrl}/v1/transactions/verify/order-1 ${withKey}` },
    { title: 'List history', command: `curl '${baseUrl}/v1/transactions/history' ${withKey}` },
    { title: 'Ask for balances', command: `curl ${baseUrl}/v1${balances.path} ${withKey}` },
    { title: 'Ask for transfers', command: `curl ${baseUrl}/v1${transfers.path} ${withKey}` },
    { title: 'Pay it by hand', command: `curl -X POST ${baseUrl}/sandbox/transactions/order-1/pay` },
    {
      title: 'Take another 12.50, and lose its webhook',
      command: post('transactions/order-1/pay', { amount: '12.50', notify: false }),
    },
    { title: 'Free what is pending, to pay it out', command: post('available', {}) },
    { title: 'Pay it out to the bank', command: post('transfers', { amount: '20.00', currency: 'NGN' }) },
    {
      title: 'Cut the next two answers to verify off',
      command: post('faults', { fault: 'answer-cut', endpoint: 'verify', calls: 2 }),
    },
    { title: 'Take five calls a second', command: post('limit', { callsPerSecond: 5 }) },
    {
      title: 'Tell another address of payments',
      command: post('webhooks', { url: 'http://localhost:3000/' }),
    },
    { title: 'Play another service', command: post('profile', { name: 'minor-units' }) },
    { title: 'Forget everything', command: post('reset', {}) },
    { title: 'See every payment taken', command: `curl ${baseUrl}/sandbox/transactions` },
  ];
}
