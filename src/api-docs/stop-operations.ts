import { ALWAYS, BODY_PROBLEMS, JSON_BODY, type Operation } from './operation.ts';

/** How the shop's own system stops new checkouts. */
export const STOP_OPERATIONS: readonly Operation[] = [
  {
    id: 'stopCheckouts',
    method: 'post',
    path: '/checkouts/stop',
    tag: 'Shop backend',
    summary: 'Stop new checkouts',
    description:
      'Of one currency, or all of them. Open payments go on, and what is paid there is confirmed. Answers what is stopped now; a stop that holds already stays as it is.',
    body: { schema: 'CheckoutStop', contentTypes: JSON_BODY },
    success: { status: 200, schema: 'Stopped', isList: true },
    problems: [...BODY_PROBLEMS, 'unauthorized', 'invalid-input', 'too-many-requests', ...ALWAYS],
    token: 'shopApiToken',
  },
  {
    id: 'resumeCheckouts',
    method: 'post',
    path: '/checkouts/resume',
    tag: 'Shop backend',
    summary: 'Let new checkouts begin again',
    description:
      'Ends a stop by hand. One that the program made because payments came in another unit is ended by a person. Answers what is stopped still.',
    body: { schema: 'CheckoutResume', contentTypes: JSON_BODY },
    success: { status: 200, schema: 'Stopped', isList: true },
    problems: [...BODY_PROBLEMS, 'unauthorized', 'invalid-input', 'too-many-requests', ...ALWAYS],
    token: 'shopApiToken',
  },
];
