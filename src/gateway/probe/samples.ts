import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Secret } from '../../platform/secret.ts';
import { REDACTED } from '../key-echo.ts';
import type { Finding } from './finding.ts';
import type { Probed } from './probe.ts';

/** What a run leaves behind in its folder. */
const FINDINGS = 'findings.json';
export const DIALECT = 'dialect.json';

/** Saves every question and answer, without keys, secrets and e-mail addresses, the findings, and the dialect file. */
export function saveRun(folder: string, probed: Probed, secrets: readonly Secret[]): void {
  const redact = createRedactor(secrets);
  const save = (name: string, value: unknown): void => {
    writeFileSync(join(folder, name), redact(`${JSON.stringify(value, null, 2)}\n`), { mode: 0o600 });
  };
  mkdirSync(folder, { recursive: true });
  probed.said.forEach(({ name, method, path, sent, status, headers, text }, index) => {
    const number = String(index + 1).padStart(2, '0');
    const file = `${number}-${name.replace(/[^a-z0-9]+/gi, '-')}.json`;
    save(file, { asked: { method, path, body: sent }, answered: { status, headers, body: text } });
  });
  probed.hooks.forEach(({ headers, body }, index) => {
    save(`webhook-${index + 1}.json`, { headers, body: body.toString('utf8') });
  });
  save(FINDINGS, probed.findings);
  if (probed.draft !== null) writeFileSync(join(folder, DIALECT), probed.draft);
}

/** Takes secrets and everything that looks like an e-mail address out of a text. */
export function createRedactor(secrets: readonly Secret[]): (text: string) => string {
  const values = secrets.map((secret) => secret.reveal()).filter((value) => value !== '');
  return (text) =>
    values
      .reduce((left, value) => left.replaceAll(value, REDACTED), text)
      .replace(/[\w.+-]+(?:@|%40)[\w-]+(?:\.[\w-]+)+/gi, REDACTED);
}

/** The findings of the run before: those in this folder, or of its latest neighbour; null: there is none. */
export function findingsBefore(folder: string): readonly Finding[] | null {
  return findingsIn(folder) ?? findingsIn(latestBeside(folder));
}

function latestBeside(folder: string): string {
  try {
    const names = readdirSync(dirname(folder)).filter((name) => name < (folder.split('/').at(-1) ?? ''));
    return join(dirname(folder), names.sort().at(-1) ?? '');
  } catch {
    return '';
  }
}

function findingsIn(folder: string): readonly Finding[] | null {
  try {
    return JSON.parse(readFileSync(join(folder, FINDINGS), 'utf8')) as readonly Finding[];
  } catch {
    return null; // no run before
  }
}
