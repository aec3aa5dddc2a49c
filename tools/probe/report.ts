import { visible, wrapped } from '../../src/platform/terminal.ts';
import type { Conclusion, Finding } from './finding.ts';

/** Wide enough for the longest verdict. */
const MARGIN = 13;
/** No line can be broken within a word longer than this. */
const MAX_WORD = 80 - MARGIN;
/** Differs from run to run and says nothing. */
const RESTLESS = new Set(['the clocks', 'history.lagSec', 'our payments in the history']);

/** What the service showed, beside the dialect in force where that differs, within 80 columns. */
export function reportOf({ findings, needs }: Conclusion, before: readonly Finding[] | null): string {
  const open = needs.map(({ key, question, choices = [] }) => {
    const oneOf = choices.length === 0 ? '' : ` One of: ${choices.join(', ')}`;
    return paragraph(`  ${key}: ${question}${oneOf}`, 4);
  });
  return [
    ...findings.flatMap(linesOf),
    ...(open.length === 0 ? [] : ['', 'Still needs a human:', ...open]),
    ...(before === null ? [] : ['', ...changesSince(before, findings)]),
    '',
  ].join('\n');
}

function linesOf({ about, verdict, seen, inForce }: Finding): string[] {
  const isShown = (verdict === 'differs' || verdict === 'cannot tell') && inForce !== '';
  const margin = ' '.repeat(MARGIN);
  return [
    paragraph(`${verdict.padEnd(MARGIN)}${about}: ${seen}`, MARGIN + 2),
    ...(isShown ? [paragraph(`${margin}  the dialect in force: ${inForce}`, MARGIN + 4)] : []),
  ];
}

/** Text of the service can neither control the terminal nor widen it. */
function paragraph(text: string, indent: number): string {
  const breakable = visible(text)
    .replace(/","/g, '", "')
    .replace(/,"(\w+)":/g, ', "$1":')
    .replace(new RegExp(`\\S{${MAX_WORD - 4}}(?=\\S)`, 'g'), '$& ');
  return wrapped(breakable, indent);
}

export function changesSince(before: readonly Finding[], now: readonly Finding[]): string[] {
  const old = new Map(before.map(({ about, seen }) => [about, seen]));
  const changes = now
    .filter(({ about, seen }) => !RESTLESS.has(about) && old.get(about) !== seen)
    .map(({ about, seen }) => `  ${about}: was ${old.get(about) ?? 'not looked at'}, is ${seen}`);
  const gone = before
    .filter(({ about }) => !now.some((one) => one.about === about))
    .map(({ about, seen }) => `  ${about}: was ${seen}, is not seen any more`);
  const all = [...changes, ...gone].map((line) => paragraph(line, 4));
  return all.length === 0
    ? ['Nothing changed since the run before.']
    : ['Changed since the run before:', ...all];
}

/** 0: the dialect in force agrees. 1: it differs. */
export function exitCodeOf({ findings }: Conclusion): 0 | 1 {
  return findings.some(({ verdict }) => verdict === 'differs') ? 1 : 0;
}
