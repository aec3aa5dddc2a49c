import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { secretsIn } from '../../deploy/find-secrets.ts';

// What the files for running it promise. They are read here as text: no Docker and no systemd has to be there.

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The blocks two spaces deep under a key of the top level, by name. */
function blocksUnder(key: string, yaml: string): Map<string, string> {
  const section = new RegExp(`^${key}:.*\\n((?:(?: .*)?\\n)*)`, 'm').exec(yaml)?.[1] ?? '';
  const blocks = section.split(/^ {2}(?=\w[\w-]*:)/m).slice(1);
  return new Map(blocks.map((block) => [block.slice(0, block.indexOf(':')), block]));
}

test('the image is built in stages, runs as nobody in particular, and has no shell', () => {
  const stages = read('Dockerfile')
    .split(/^(?=FROM )/m)
    .slice(1);
  const [, last = ''] = stages;
  expect(stages).toHaveLength(2);
  expect(last).toMatch(/^FROM \S*distroless\S*:nonroot$/m);
  expect(last).toMatch(/^USER nonroot$/m);
  expect(last).not.toMatch(/^RUN /m);
  // The form with brackets: the other one would ask for a shell.
  for (const [, argument] of last.matchAll(/(?:^|\s)(?:CMD|ENTRYPOINT) (.)/gm)) expect(argument).toBe('[');
  expect(last).not.toMatch(/COPY (?!--from=build)/);
  expect(read('.dockerignore').split('\n')).toContain('*');
  expect(read('.dockerignore')).not.toMatch(/^!\.env/m);
});

test('in compose, every part has a read-only root and takes no new privileges, and nodes keep no capability', () => {
  const compose = read('compose.yaml');
  const node = /^x-node:[^]*?(?=^services:)/m.exec(compose)?.[0] ?? '';
  const services = blocksUnder('services', compose);
  expect([...services.keys()]).toEqual(['app', 'worker', 'proxy', 'postgres', 'prometheus', 'grafana']);
  for (const [, block] of services) {
    const all = block.includes('<<: *node') ? node + block : block;
    expect(all).toMatch(/^ +read_only: true$|^ {2}read_only: true$/m);
    expect(all).toContain('no-new-privileges:true');
  }
  expect(node).toMatch(/user: '(?!0\b)\d+:/);
  expect(node).toContain('cap_drop: [ALL]');
  expect(services.get('app')).toContain('<<: *node');
  expect(services.get('worker')).toContain('<<: *node');
  // The database is on no network that leads out, and publishes nothing.
  expect(services.get('postgres')).toMatch(/networks: \[inner\]/);
  expect(services.get('postgres')).not.toContain('ports:');
  expect(compose).toMatch(/inner: \{ internal: true \}/);
  // Ten seconds to stop, and some for whoever counts slowly.
  expect(node).toContain('stop_grace_period: 15s');
});

test.each(['server', 'worker'])(
  'the systemd unit of the %s shuts everything that a node does not need',
  (kind) => {
    const unit = read(`deploy/systemd/integrator-${kind}@.service`).split('\n');
    expect(unit).toEqual(
      expect.arrayContaining([
        'User=integrator',
        'StateDirectory=integrator',
        'WorkingDirectory=/var/lib/integrator',
        'EnvironmentFile=/etc/integrator/env',
        'NoNewPrivileges=yes',
        'ProtectSystem=strict',
        'ProtectHome=yes',
        'PrivateTmp=yes',
        'CapabilityBoundingSet=',
        'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX',
        'SystemCallFilter=@system-service @pkey',
        'RestartPreventExitStatus=78',
        `ExecStart=/usr/bin/node /opt/integrator/dist/${kind}.js`,
        'TimeoutStopSec=15',
      ]),
    );
    // Secrets come from a file that only root reads, not from a unit that everybody can.
    expect(unit.join('\n')).not.toMatch(/Environment=.*(?:KEY|TOKEN|SECRET|DATABASE_URL)/);
  },
);

test('every action of every workflow is one commit, and may write nothing', () => {
  const workflows = readdirSync(new URL('../../.github/workflows/', import.meta.url));
  expect(workflows.length).toBeGreaterThan(0);
  for (const name of workflows) {
    const workflow = read(`.github/workflows/${name}`);
    const actions = [...workflow.matchAll(/uses: (.*)$/gm)].map(([, action]) => action);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    expect(workflow).toMatch(/^permissions: \{ contents: read \}$/m);
    expect(workflow).not.toContain('pull_request_target');
  }
});

test('updates wait a week before they are proposed', () => {
  const updates = read('.github/dependabot.yml')
    .split(/^ {2}- package-ecosystem: /m)
    .slice(1);
  expect(updates.map((update) => update.split('\n')[0])).toEqual(['npm', 'github-actions', 'docker']);
  for (const update of updates) expect(update).toMatch(/cooldown: \{ default-days: 7\b/);
});

test('nginx sends no request twice that is not safe to repeat, and passes on only the address that it saw', () => {
  const rules = read('deploy/nginx/proxy.conf').replace(/#.*$/gm, '');
  expect(rules).toMatch(/proxy_next_upstream error timeout;/);
  expect(rules).not.toContain('non_idempotent');
  expect(rules).toContain('proxy_set_header X-Forwarded-For $remote_addr;');
  expect(read('deploy/nginx/integrator.conf').replace(/#.*$/gm, '')).not.toMatch(/keepalive\s+\d/);
});

test('nginx asks a node again before the next one, told to stop, refuses', () => {
  const [, noticeMs = ''] =
    /^const NOTICE_MS = ([\d_]+);$/m.exec(read('src/bootstrap/start-server.ts')) ?? [];
  const servers = read('deploy/nginx/integrator.conf').match(/^ +server [\d.:]+ .*;$/gm) ?? [];
  expect(servers).toHaveLength(2);
  for (const server of servers) {
    const [, sec] = / fail_timeout=(\d+)s;/.exec(server) ?? [];
    expect(Number(sec) * 1_000).toBeLessThan(Number(noticeMs.replaceAll('_', '')));
  }
});

test('nginx lets through the largest body that a route takes, and the page of security says how large it is', () => {
  const [, allowed = ''] = /^client_max_body_size (\d+)k;$/m.exec(read('deploy/nginx/proxy.conf')) ?? [];
  expect(read('src/orders/routes.ts')).toContain(`limit: '${allowed}kb'`);
  expect(read('docs/security.md')).toContain(`at least ${allowed} kB`);
});

test('nginx redirects what comes to port 80, and never a webhook', () => {
  const [, plain = ''] =
    /^server \{\n {2}listen 80;([^]*?)^\}/m.exec(read('deploy/nginx/integrator.conf')) ?? [];
  expect(plain).toMatch(/location \/ \{\s+return 301 https:\/\/\$server_name\$request_uri;/);
  expect(plain).toMatch(/location = \/webhooks\/payments \{\s+return 403;/);
});

// Put together here, or this file would be the first that is found.
const planted = [
  ['a secret key of the payment service', `sk_live_${'9aX2'.repeat(5)}`],
  ['a webhook secret', `whsec_${'Ab3/'.repeat(8)}`],
  ['a private key', ['-----BEGIN', 'EC PRIVATE KEY-----'].join(' ')],
  ['a token of GitHub', `ghp_${'a1B2'.repeat(9)}`],
  ['a key of AWS', `AKIA${'A1B2'.repeat(4)}`],
] as const;

test.each(planted)('%s in the tree is found, and not quoted', (kind, secret) => {
  expect(secretsIn('src/x.ts', `first\nconst key = '${secret}';`)).toEqual([
    `src/x.ts:2: looks like ${kind}`,
  ]);
});

test('short stand-ins and the published example are no secrets', () => {
  const harmless = 'sk_test_x sk_live_of whsec_test whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
  expect(secretsIn('src/x.ts', harmless)).toEqual([]);
});

test('Prometheus loads the alert rules, and the rule on servers that are down asks for its job', () => {
  const [, job = ''] = /job_name: (\S+)/.exec(read('deploy/watch/prometheus.yml')) ?? [];
  expect(read('docs/observability/alerts.yml')).toContain(`up{job="${job}"}`);
  const [, rules = ''] = /rule_files: \[(\S+)\]/.exec(read('deploy/watch/prometheus.yml')) ?? [];
  expect(read('compose.yaml')).toContain(`./docs/observability/alerts.yml:${rules}:ro`);
});
