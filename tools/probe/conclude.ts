import type { Secret } from '../../src/platform/secret.ts';
import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import { contentOf } from '../../src/gateway/verify.ts';
import { concludeFee } from './conclude-fee.ts';
import { concludeHistory } from './conclude-history.ts';
import { concludeInitialize } from './conclude-initialize.ts';
import { concludeRecord } from './conclude-record.ts';
import { concludeWebhook } from './conclude-webhook.ts';
import { withChanges } from './draft.ts';
import { finding, type Conclusion, type Finding, type Words } from './finding.ts';
import type { Said } from './line.ts';
import type { Observed } from './observed.ts';

/** What follows from everything that was observed, and from what a person said. Pure. */
export function conclude(
  observed: Observed,
  dialect: Dialect,
  known: { secrets: readonly Secret[]; words: Words; now: Date },
): Conclusion {
  const { words } = known;
  const opened = concludeInitialize(observed, dialect, words);
  const record = concludeRecord(observed, dialect, words);
  const read = withChanges(dialect, [...opened.findings, ...record.findings]);
  const parts = [
    opened,
    record,
    concludeHistory(observed, dialect, { words, read }),
    concludeFee(observed, dialect, words),
    concludeWebhook(observed, dialect, known),
  ];
  return {
    findings: [...parts.flatMap(({ findings }) => findings), ...notes(observed, dialect)],
    needs: parts.flatMap(({ needs }) => needs),
  };
}

/** What no key of the dialect is about. */
function notes(observed: Observed, dialect: Dialect): Finding[] {
  const { unknown, repeated, wrongKey, skewSec, tooMany, sent } = observed;
  const again =
    repeated.text === sent.at(-1)?.opened.text ? 'with the first answer again' : inWords(repeated);
  return [
    finding(
      'an unknown reference',
      'noted',
      `${inWords(unknown)}; read as ${readingOf(unknown, observed, dialect)}`,
    ),
    finding('a repeated reference', 'noted', `${again}; the integrator never repeats one`),
    finding(
      'a wrong key',
      wrongKey.status === 401 ? 'agrees' : 'differs',
      inWords(wrongKey),
      'HTTP 401, as the reference shows',
    ),
    finding(
      'the clocks',
      'noted',
      skewSec === null ? 'the service names no time' : `the service is ${skewSec} s ahead`,
    ),
    finding(
      'limits',
      'noted',
      tooMany.length === 0 ? 'none met' : `${tooMany.length} times "too many calls": ${limitsIn(tooMany)}`,
    ),
  ];
}

/** What our own reader makes of it. */
function readingOf(said: Said, observed: Observed, dialect: Dialect): string {
  if (said.status === null) return 'no answer';
  if (said.status >= 500 || [401, 403, 429].includes(said.status)) return 'no answer of use';
  const answer = { status: said.status, headers: said.headers, body: Buffer.from(said.text) };
  const content = contentOf(answer, dialect, observed.currency);
  if (content.kind === 'record')
    return "a record, and it is another payment's: the reference tells them apart, never paid";
  return content.kind === 'not-found' ? 'not found' : `unreadable (${content.why}), which proves nothing`;
}

function inWords({ status, text, json }: Said): string {
  if (status === null) return text;
  const shape =
    json === undefined
      ? text === ''
        ? 'no body'
        : 'no JSON'
      : typeof json === 'object' && json !== null
        ? `{${Object.keys(json).join(', ')}}`
        : JSON.stringify(json);
  return `HTTP ${status}, ${shape}`;
}

function limitsIn(tooMany: readonly Said[]): string {
  const names = ['retry-after', 'ratelimit-reset', 'x-ratelimit-reset'];
  const said = names.filter((name) => tooMany.some(({ headers }) => headers[name] !== undefined));
  return said.length === 0 ? 'without a time' : `with ${said.join(', ')}`;
}
