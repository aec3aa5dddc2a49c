import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSandbox } from '../../local/sandbox/sandbox.ts';
import { SANDBOX_LIVE_KEY, SANDBOX_TEST_KEY, SANDBOX_WEBHOOK_SECRET } from '../../local/sandbox/keys.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { startCollector } from '../../test/support/collector.ts';
import { startReleaseReceiver } from '../../test/support/release-receiver.ts';
import { DOMAIN, run, type Shell } from './machine.ts';
import type { Stage } from './stage.ts';

const SERVICE = 'api.payments.example';
/** For documentation (RFC 5737), here of the machine's own network: with a live key no inner address is called. */
const ADDRESS = '203.0.113.1';
const USER = 'shopkeeper';
const AUTHORITY = '/etc/ssl/authority.pem';

/** The stand-in as real services are reached: https, and checkout pages at the same name. */
export async function startNamedService(stage: Stage): Promise<string> {
  const service = await startSandbox({
    ...{ host: '127.0.0.1', port: 0, dataDir: null, logger: createLogger('silent') },
    ...{ publicUrl: `https://${SERVICE}` },
    webhook: { url: 'http://127.0.0.1:3001/webhooks/payments', secret: SANDBOX_WEBHOOK_SECRET },
  });
  stage.later(service.close);
  return service.url;
}

/**
 * Real money, as docs/go-live.md says, with an authority of the machine's own for the certificate of the service.
 * @param restart by the words of the page
 */
export async function goLive(
  stage: Stage,
  { type }: Shell,
  serviceUrl: string,
  restart: () => Promise<unknown>,
): Promise<void> {
  const [alarmed, receiver] = [await startCollector(204), await startReleaseReceiver()];
  for (const one of [alarmed, receiver]) stage.later(one.close);
  const more = {
    ...{ GATEWAY_URL: `https://${SERVICE}`, GATEWAY_SECRET_KEY: SANDBOX_LIVE_KEY, CHECKOUT_HOSTS: SERVICE },
    ...{ GATEWAY_DIALECT: '/etc/integrator/dialect.json', NODE_EXTRA_CA_CERTS: AUTHORITY },
    ...{ ALERT_URL: `${alarmed.url}/alerts`, ALERT_SECRET: receiver.env.FULFILMENT_SECRET, ...receiver.env },
  };
  run('ip', ['address', 'add', `${ADDRESS}/32`, 'dev', 'lo'], stage.folder);
  await type(`
    openssl req -x509 -newkey rsa:2048 -noenc -days 1 -subj /CN=Authority -keyout /root/authority.key \\
      -out ${AUTHORITY} 2>/dev/null
    of_authority() {
      openssl req -x509 -newkey rsa:2048 -noenc -days 1 -subj "/CN=$1" -addext "subjectAltName=DNS:$1" \\
        -CA ${AUTHORITY} -CAkey /root/authority.key -keyout "/etc/ssl/private/$1.key" -out "/etc/ssl/$1.pem" 2>/dev/null
    }
    of_authority ${SERVICE}
    of_authority ${DOMAIN}
    cat ${AUTHORITY} >> /etc/ssl/certs/ca-certificates.crt
    echo '${ADDRESS} ${SERVICE}' >> /etc/hosts
    cat > /etc/nginx/conf.d/service.conf <<END
    server {
      listen 443 ssl;
      server_name ${SERVICE};
      ssl_certificate /etc/ssl/${SERVICE}.pem;
      ssl_certificate_key /etc/ssl/private/${SERVICE}.key;
      location / { proxy_pass ${serviceUrl}; }
    }
END
    systemctl restart nginx
    cd /opt/integrator
    runuser -u integrator -- npm run --silent dialect -- --json > /etc/integrator/dialect.json
    sed -i '/^GATEWAY_URL=/d; /^GATEWAY_SECRET_KEY=/d; /^DEMO_SHOP=/d' /etc/integrator/env
    printf '%s\\n' ${Object.entries(more)
      .map((pair) => pair.join('='))
      .join(' ')} >> /etc/integrator/env
  `);
  await restart();
}

/** With real money paid: both commands, and what they say at last. */
export const EXAMINED = `
  cd /opt/integrator
  as_integrator() { runuser -u integrator -- env NODE_EXTRA_CA_CERTS=${AUTHORITY} npm run --silent "$@"; }
  as_integrator reconcile
  for what in doctor go-live; do
    code=0
    as_integrator $what > /root/examined || code=$?
    cat /root/examined
    tell "$what in live mode" "$code, $(tail -n 1 /root/examined)"
  done
`;

/** The page's way without root, and what its units do when the user's systemd starts anew, as at a boot. */
export async function withoutRoot(
  root: string,
  { type }: Shell,
  blocks: string,
  serviceUrl: string,
): Promise<void> {
  await type(`
    systemctl stop integrator-server@3001 integrator-server@3002 integrator-worker@1
    useradd --create-home --shell /bin/bash ${USER}
    loginctl enable-linger ${USER}
    cp -r /root/bundle /home/${USER}/bundle
    chown -R ${USER} /home/${USER}/bundle
    as_user() { runuser -u ${USER} -- env -i HOME=/home/${USER} PATH=/usr/bin:/bin \\
      XDG_RUNTIME_DIR="/run/user/$(id -u ${USER})" bash -e -o pipefail "$@"; }
  `);
  const answers = `
    domain=${DOMAIN} gateway_url=${serviceUrl} gateway_key=${SANDBOX_TEST_KEY} webhook_secret=${SANDBOX_WEBHOOK_SECRET}
    cd "$HOME"
  `;
  writeFileSync(join(root, 'home', USER, 'typed.sh'), answers + blocks);
  await type(`
    as_user /home/${USER}/typed.sh
    echo DEMO_SHOP=on >> /home/${USER}/integrator.env
    systemctl restart "user@$(id -u ${USER})"
    curl -fsS --retry 60 --retry-all-errors --retry-delay 1 -w '\\n' http://localhost:{3001,3101}/readyz
    tell 'units of a user, after a start of its systemd' "$(as_user -c 'systemctl --user is-active \\
      integrator-database integrator@server integrator@worker' | uniq)"
    tell 'lines of its journal' "$(as_user -c 'journalctl --user -q -o cat -u integrator@server' | wc -l)"
  `);
}
