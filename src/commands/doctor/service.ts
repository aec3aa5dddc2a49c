import { checkService } from '../../gateway/verify.ts';
import { look, ok, wrong, type Answer, type Topic } from './answers.ts';
import { clock } from './database.ts';
import type { Subject } from './subject.ts';

export const SERVICE: Topic = { about: 'payment service', questions: [service, dialect] };

async function service({ gateway, services }: Subject): Promise<Answer[]> {
  const who = services.sandboxUrl === null ? 'The service' : 'The sandbox';
  const check = await checkService(gateway.client, gateway.dialect);
  switch (check.outcome) {
    case 'accepted':
      return [
        ok(`${who} answers and does not refuse the key.`),
        ...clock('the service', check.aheadSec ?? 0),
      ];
    case 'refused':
      return [wrong(`${who} refuses the key.`, 'set GATEWAY_SECRET_KEY to the one of its dashboard')];
    case 'odd':
      return [wrong(`What answers is no payment service: ${check.why}.`, 'correct GATEWAY_URL')];
    case 'away':
      return [wrong(`${who} cannot be asked: ${check.why}.`, 'look at its status page, then at GATEWAY_URL')];
  }
}

function dialect({ config, services }: Subject): Answer[] {
  if (config.dialectFile !== null) return [ok(`Its answers are read by ${config.dialectFile.path}.`)];
  if (services.sandboxUrl !== null) return [ok('Its answers are read by the default dialect.')];
  const says = 'Its answers are read by the default dialect, which nobody has compared with them.';
  return [look(says, 'npm run probe in a checkout, then set GATEWAY_DIALECT')];
}
