import type { AnswerFault } from './fault.ts';

const HTML = '<!doctype html><html><body><h1>502 Bad Gateway</h1><p>status: success</p></body></html>';

/** What may befall any answer. After each of these nobody knows anything about money, and may not guess. */
export const ANSWER_FAULTS = {
  'answer-slow': {
    title: 'Answers are slow',
    happens: 'The service acts at once and answers after longer than anybody waits.',
    ends: 'Nobody waits for ever: the call is given up, the question is asked again, and the order is paid and released once.',
    acts: true,
    way: 'slowly',
  },
  'answer-dripping': {
    title: 'Answers drip',
    happens: 'The answer begins at once and comes byte by byte.',
    ends: 'The whole answer has one deadline: the call is given up, asked again, and the order is paid and released once.',
    acts: true,
    way: 'byte by byte',
  },
  'answer-cut': {
    title: 'Answers are cut off',
    happens: 'The connection breaks in the middle of the answer.',
    ends: 'Half an answer proves nothing: asked again, the order is paid and released once.',
    acts: true,
    way: 'cut off',
  },
  'answer-empty': {
    title: 'Answers are empty',
    happens: 'HTTP 200 with nothing in it.',
    ends: 'Nothing proves nothing: asked again, the order is paid and released once.',
    acts: true,
    answer: () => ({ status: 200, body: '' }),
  },
  'answer-html': {
    title: 'Answers are HTML',
    happens: 'HTTP 200 with the page of a proxy, in which the word success stands.',
    ends: 'A page proves nothing: asked again, the order is paid and released once.',
    acts: true,
    answer: () => ({ status: 200, type: 'html', body: HTML }),
  },
  'error-before-acting': {
    title: 'Fails before acting',
    happens: 'HTTP 503, and the service has done nothing: initialize has opened no checkout.',
    ends: 'The order is kept; a new payment under a new reference pays it, and the old one stays without money.',
    acts: false,
    answer: ({ profile }) => profile.refused(503, 'the service is not available'),
  },
  'error-after-acting': {
    title: 'Fails after acting',
    happens:
      'HTTP 502, although the service has done it: initialize has opened a checkout that nobody can see.',
    ends: 'The reference is never sent again: a new payment pays the order, and the old one is watched.',
    acts: true,
    answer: ({ profile }) => profile.refused(502, 'failed'),
  },
  'key-refused': {
    title: 'The key is refused from now on',
    happens: 'HTTP 401 to every call, as after a key was revoked.',
    ends: 'Readiness turns red, no order fails for it, and when the key is accepted again the order is paid and released once.',
    acts: false,
    answer: ({ profile }) => profile.refused(401, 'a valid x-api-key is required'),
  },
  'clock-behind': {
    title: 'The clock is behind',
    happens: 'The Date of the answer is five minutes behind, as of a node without time synchronisation.',
    ends: 'The program takes no time from it: the answer is evidence, and the order is paid and released once.',
    acts: true,
    skewSec: -300,
  },
  'not-found-for-a-while': {
    title: 'Not found for a while',
    happens: 'Verify does not know a transaction that exists, and later it does.',
    ends: 'Not found is not failed: asked again, the order is paid and released once.',
    acts: false,
    answer: ({ profile, reference }) =>
      reference === null ? profile.refused(404, 'not found') : profile.unknown(reference, null),
  },
} as const satisfies Record<string, AnswerFault>;
