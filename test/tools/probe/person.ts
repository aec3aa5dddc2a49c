import { PROFILE_DIALECTS } from '../../local/sandbox/profile-dialects.ts';
import { PROFILES, type ProfileName } from '../../../local/sandbox/profiles/all.ts';
import type { Sandbox } from '../../../local/sandbox/sandbox.ts';
import type { Need } from '../../../tools/probe/finding.ts';
import type { Person } from '../../../tools/probe/person.ts';

type HandWritten = {
  statuses?: Record<string, string[]>;
  history?: { paging?: { style?: string } };
  webhook?: { signature?: object | null };
};

/** Pays by the sandbox's control routes, says so, and knows of the service what a shop would know. */
export function personAt(sandbox: Sandbox, profile: ProfileName, asked: Need[] = []): Person {
  return {
    sees: () => undefined,
    pays: async ({ address }) => {
      const token = new URL(address ?? '').pathname.split('/').at(-1) ?? '';
      const answer = await fetch(`${sandbox.url}/checkout/${token}/pay`, {
        method: 'POST',
        redirect: 'manual',
      });
      return answer.status < 400;
    },
    tells: (need) => {
      asked.push(need);
      return Promise.resolve(truthOf(profile, need));
    },
  };
}

/** Nobody: no payment, no word. */
export const nobody: Person = {
  sees: () => undefined,
  pays: () => Promise.resolve(false),
  tells: () => Promise.resolve(null),
};

/** What a person would find out who looks at the page or asks the service's people. */
export function truthOf(profile: ProfileName, { key, choices = [] }: Need): string | null {
  const { unit, facts } = PROFILES[profile];
  const written = PROFILE_DIALECTS[profile] as HandWritten;
  if (key === 'amountUnit') return unit;
  if (key === 'history.paging.style') return written.history?.paging?.style === 'none' ? 'none' : null;
  if (key === 'webhook.signature') return written.webhook?.signature === null ? 'null' : null;
  const [place = '', name = ''] = key.split('.');
  if (place === 'statuses') return written.statuses?.[name]?.join(', ') ?? null;
  if (place === 'verify') {
    const fact = (facts as Record<string, string>)[name] ?? '';
    return choices.find((choice) => fact.endsWith(choice)) ?? null;
  }
  return null;
}
