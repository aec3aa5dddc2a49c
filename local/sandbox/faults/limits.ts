import { LOCK_OUT_MS, tooManyCalls, type RateForm } from '../profiles/shapes/too-many.ts';
import type { AnswerFault } from './fault.ts';

/** Seconds after which a refused caller may ask again. */
const WAIT_SEC = 2;

const ends = 'Nobody asks again before the time that was named: later, the order is paid and released once.';
const endsByOwnPause =
  'The service names no time, so the own pauses hold: asked again later, the order is paid and released once.';

/** HTTP 429 in all its forms. */
export const LIMIT_FAULTS = {
  'too-many-calls-seconds': {
    ...refusal('retry-after-seconds', WAIT_SEC),
    title: 'Too many calls, with seconds',
    happens: 'HTTP 429 with Retry-After in seconds.',
    ends,
  },
  'too-many-calls-date': {
    ...refusal('retry-after-date', WAIT_SEC),
    title: 'Too many calls, with a date',
    happens: 'HTTP 429 with Retry-After as an HTTP date.',
    ends,
  },
  'too-many-calls-reset-epoch': {
    ...refusal('reset-epoch', WAIT_SEC),
    title: 'Too many calls, with a reset time',
    happens: 'HTTP 429 with the second since 1970 from which calls are taken again, in a header of its own.',
    ends: endsByOwnPause,
  },
  'too-many-calls-reset-seconds': {
    ...refusal('reset-seconds', WAIT_SEC),
    title: 'Too many calls, with seconds to a reset',
    happens: 'HTTP 429 with the seconds to wait in a header of its own.',
    ends: endsByOwnPause,
  },
  'too-many-calls-bare': {
    ...refusal('nothing', WAIT_SEC),
    title: 'Too many calls, and no more said',
    happens: 'HTTP 429 without any header.',
    ends: endsByOwnPause,
  },
  'locked-out': {
    ...refusal('lock-out-message', LOCK_OUT_MS / 1_000),
    title: 'Locked out',
    happens: 'HTTP 429 for half an hour, announced only in the words of a message.',
    ends: endsByOwnPause,
  },
} as const satisfies Record<string, AnswerFault>;

function refusal(form: RateForm, waitSec: number): Pick<AnswerFault, 'answer'> & { acts: false } {
  return {
    acts: false,
    answer: ({ profile, now }) => tooManyCalls(form, profile.refused, waitSec, now),
  };
}
