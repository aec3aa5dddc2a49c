import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Secret } from '../../src/platform/secret.ts';
import { createKeyRedactor, REDACTED } from '../../src/gateway/http/redact-key.ts';
import type { Finding } from './finding.ts';
import type { Said } from './line.ts';
import type { Probed } from './probe.ts';

/** What a run leaves behind in its folder. */
const FINDINGS = 'findings.json';
export const DIALECT = 'dialect.json';

/** Saves each question and answer as it comes, without keys, secrets and e-mail addresses. */
export function createSamples(folder: string, secrets: readonly Secret[]): (said: Said) => void {
  const save = saverIn(folder, secrets);
  let count = 0;
  return ({ name, method, path, sent, status, headers, text }) => {
    count += 1;
    const file = `${String(count).padStart(2, '0')}-${name.replace(/[^a-z0-9]+/gi, '-')}.json`;
    save(file, { asked: { method, path, body: sent }, answered: { status, headers, body: text } });
  };
}

/** Saves what a whole run found: webhooks, redacted as samples are, findings, and the dialect file. */
export function saveRun(folder: string, probed: Probed, secrets: readonly Secret[]): void {
  const save = saverIn(folder, secrets);
  probed.hooks.forEach(({ headers, body }, index) => {
    save(`webhook-${index + 1}.json`, { headers, body: body.toString('utf8') });
  });
  save(FINDINGS, probed.findings);
  if (probed.draft !== null) writeFileSync(join(folder, DIALECT), probed.draft);
}

function saverIn(folder: string, secrets: readonly Secret[]): (name: string, value: unknown) => void {
  const redact = createRedactor(secrets);
  return (name, value) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), redact(`${JSON.stringify(value, null, 2)}\n`), { mode: 0o600 });
  };
}

/** Takes secrets and everything that looks like an e-mail address out of a text. */
export function createRedactor(secrets: readonly Secret[]): (text: string) => string {
  const given = secrets.filter((secret) => secret.reveal() !== '');
  const scrubbers = given.map(createKeyRedactor);
  return (text) =>
    scrubbers
      .reduce<Buffer>((left, { clean }) => clean(left), Buffer.from(text))
      .toString()
      .replace(/[\w.+-]+(?:@|%40)[\w-]+(?:\.[\w-]+)+/gi, REDACTED);
}

/** The findings of the run before: those in this folder, or of its latest neighbour that has any; null: there is none. */
export function findingsBefore(folder: string): readonly Finding[] | null {
  // A run that was stopped has left samples and no findings.
  for (const one of [folder, ...foldersBefore(folder)]) {
    const findings = findingsIn(one);
    if (findings !== null) return findings;
  }
  return null;
}

/** Newest first. */
function foldersBefore(folder: string): string[] {
  try {
    const names = readdirSync(dirname(folder)).filter((name) => name < basename(folder));
    return names
      .sort()
      .reverse()
      .map((name) => join(dirname(folder), name));
  } catch {
    return [];
  }
}

function findingsIn(folder: string): readonly Finding[] | null {
  try {
    return JSON.parse(readFileSync(join(folder, FINDINGS), 'utf8')) as readonly Finding[];
  } catch {
    return null; // no run before
  }
}
