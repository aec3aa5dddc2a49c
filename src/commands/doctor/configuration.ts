import { readFileSync } from 'node:fs';
import { createAlertMail } from '../../alerts/hooks.ts';
import type { Config } from '../../config.ts';
import { look, ok, wrong, type Answer, type Topic, type Subject } from './answers.ts';

const PACKAGE = new URL('../../../package.json', import.meta.url);

export const CONFIGURATION: Topic = {
  about: 'configuration',
  questions: [program, variables, warnings, retention, (of) => (of.config.production ? ownParts(of) : [])],
};

function program({ mode, config }: Subject): Answer[] {
  const { name, version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { name: string; version: string };
  const money = mode === 'test' ? 'no real money moves' : 'real money moves';
  return [
    ok(`This is ${name} ${version} on Node.js ${process.versions.node}, NODE_ENV=${config.NODE_ENV}.`),
    ok(`The mode is ${mode}: ${money}.`),
  ];
}

function variables({ config: { given } }: Subject): Answer {
  if (given.length === 0) return ok('No variable is set: each has its default.');
  return ok(`Set: ${given.join(', ')}. Each other variable has its default.`);
}

/** What every start logs, too. */
export function warnings({ config }: Subject): Answer[] {
  const nothingIsSigned = config.dialect.webhook.signature === null;
  return config.warnings.flatMap((warning) => {
    const [name = ''] = warning.split(':', 1);
    if (nothingIsSigned && name === 'WEBHOOK_SECRETS') return [];
    const todo = name === 'GATEWAY_DIALECT' ? 'correct the file that it names' : `set ${name}`;
    return [look(`${warning.replace(': ', ' ')}.`, todo)];
  });
}

function retention({ config: { RETAIN_BODIES_DAYS: days } }: Subject): Answer {
  const until = days === undefined ? 'for ever (RETAIN_BODIES_DAYS is not set)' : `for ${days} days`;
  return ok(`Bodies of answers and webhooks are kept ${until}.`);
}

/** What a shop must have put in place of ours before real shoppers come. */
export async function ownParts({ config, extensions }: Subject): Promise<Answer[]> {
  const { identity, onAlert } = extensions;
  return [
    identity === null
      ? look("Order pages bear the demo shop's name.", 'edit src/custom/identity.ts')
      : ok(`Order pages bear the name ${identity.name}.`),
    await alertsOf(onAlert !== null, config),
    receiverOf({ config, extensions }),
  ];
}

async function alertsOf(toCustom: boolean, { ALERT_URL, ALERT_EMAIL, SMTP_URL }: Config): Promise<Answer> {
  const ways = {
    'src/custom/alerts.ts': toCustom,
    ALERT_URL: ALERT_URL !== undefined,
    ALERT_EMAIL: ALERT_EMAIL.length > 0,
  };
  const to = Object.entries(ways).flatMap(([name, isSet]) => (isSet ? [name] : []));
  if (SMTP_URL !== undefined) {
    const mail = createAlertMail(SMTP_URL, ALERT_EMAIL);
    const fault = await mail.verify().then(
      () => null,
      (error: unknown) => (error as { code?: string }).code ?? 'no reason given',
    );
    mail.close();
    if (fault !== null) return wrong(`The mail server does not answer (${fault}).`, 'correct SMTP_URL');
  }
  if (to.length > 0) return ok(`Alerts go to ${to.join(' and ')}.`);
  const todo = 'set ALERT_URL and ALERT_SECRET, or edit src/custom/alerts.ts';
  return look('Alerts are lines of the log, and nobody is woken.', todo);
}

function receiverOf({ config, extensions }: Pick<Subject, 'config' | 'extensions'>): Answer {
  if (config.FULFILMENT_URL !== undefined) return ok('Releases go to FULFILMENT_URL.');
  if (extensions.receiver !== null) return ok('Releases go to src/custom/fulfilment.ts.');
  const todo = 'set FULFILMENT_URL and FULFILMENT_SECRET, or edit src/custom/fulfilment.ts';
  return look('Releases are recorded and sent to nobody.', todo);
}
