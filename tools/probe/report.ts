import { formatTable } from '../../src/platform/table.ts';
import type { Conclusion, Finding } from './finding.ts';

const MAX_CELL = 72;
/** Differs from run to run and says nothing. */
const RESTLESS = new Set(['the clocks']);

/** The findings beside the dialect in force, what changed since the run before, and what only a person can say. */
export function reportOf({ findings, needs }: Conclusion, before: readonly Finding[] | null): string {
  const rows = findings.map(({ about, verdict, seen, inForce }) => [about, verdict, cut(seen), cut(inForce)]);
  const open = needs.map(({ key, question, choices = [] }) => {
    const oneOf = choices.length === 0 ? '' : ` One of: ${choices.join(', ')}`;
    return `  ${key}: ${question}${oneOf}`;
  });
  return [
    formatTable(['about', 'verdict', 'seen', 'dialect in force'], rows),
    ...(open.length === 0 ? [] : ['', 'Still needs a human:', ...open]),
    ...(before === null ? [] : ['', ...changesSince(before, findings)]),
    '',
  ].join('\n');
}

export function changesSince(before: readonly Finding[], now: readonly Finding[]): string[] {
  const old = new Map(before.map(({ about, seen }) => [about, seen]));
  const changes = now
    .filter(({ about, seen }) => !RESTLESS.has(about) && old.get(about) !== seen)
    .map(({ about, seen }) => `  ${about}: was ${old.get(about) ?? 'not looked at'}, is ${seen}`);
  const gone = before
    .filter(({ about }) => !now.some((one) => one.about === about))
    .map(({ about, seen }) => `  ${about}: was ${seen}, is not seen any more`);
  const all = [...changes, ...gone];
  return all.length === 0
    ? ['Nothing changed since the run before.']
    : ['Changed since the run before:', ...all];
}

/** 0: the dialect in force agrees. 1: it differs. */
export function exitCodeOf({ findings }: Conclusion): 0 | 1 {
  return findings.some(({ verdict }) => verdict === 'differs') ? 1 : 0;
}

function cut(text: string): string {
  return text.length <= MAX_CELL ? text : `${text.slice(0, MAX_CELL - 1)}…`;
}
