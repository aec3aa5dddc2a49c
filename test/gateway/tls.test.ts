import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createPlainServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer } from 'node:https';
import type { SecureVersion } from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { argumentsOf } from '../support/process.ts';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

/** Quickly made. */
const KEY = 'ec -pkeyopt ec_paramgen_curve:prime256v1';

let dir: string;
const servers: Server[] = [];
const sockets: Socket[] = [];
let requests = 0;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tls-'));
  openssl(`req -x509 -newkey ${KEY} -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=test-authority`);
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  rmSync(dir, { recursive: true });
});

function openssl(command: string): void {
  execFileSync('openssl', command.split(' '), { cwd: dir, stdio: 'pipe' });
}

type Certificate = { name: string; san: string; from?: string; to?: string; selfSigned?: boolean };

/** A certificate of the test's own authority, unless it signs itself. */
function issue({ name, san, from = '', to = '', selfSigned = false }: Certificate): {
  key: Buffer;
  cert: Buffer;
} {
  const [key, cert] = [`${name}.key`, `${name}.pem`];
  openssl(`req -newkey ${KEY} -nodes -keyout ${key} -out ${name}.csr -subj /CN=${name}`);
  writeFileSync(join(dir, `${name}.ext`), `subjectAltName=${san}`);
  writeFileSync(join(dir, 'index.txt'), '');
  writeFileSync(
    join(dir, 'ca.cnf'),
    '[ca]\ndefault_ca=own\n[own]\ndatabase=index.txt\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\npolicy=any\n[any]\ncommonName=supplied\n',
  );
  const signer = selfSigned ? `-selfsign -keyfile ${key}` : '-cert ca.pem -keyfile ca.key';
  const dates = from === '' ? '-days 2' : `-startdate ${from} -enddate ${to}`;
  openssl(
    `ca -batch -notext -config ca.cnf ${signer} -in ${name}.csr -out ${cert} -extfile ${name}.ext ${dates}`,
  );
  return { key: readFileSync(join(dir, key)), cert: readFileSync(join(dir, cert)) };
}

async function listen(server: Server): Promise<string> {
  servers.push(server);
  server.on('connection', (socket: Socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function serve(certificate: Certificate, version?: SecureVersion): Promise<string> {
  const versions = version && { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
  return listen(
    createServer({ ...issue(certificate), ...versions }, (_req, res) => {
      requests += 1;
      res.end('{}');
    }),
  );
}

/** What becomes of a call to each address, in a process that trusts the test's authority and is told to trust everybody. */
async function call(...urls: string[]): Promise<string[]> {
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    NODE_EXTRA_CA_CERTS: join(dir, 'ca.pem'),
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  };
  const { stdout } = await promisify(execFile)(
    'node',
    [...argumentsOf('test/support/tls-calls.ts'), ...urls],
    { env },
  );
  return JSON.parse(stdout) as string[];
}

const HERE = 'IP:127.0.0.1';

test('a certificate that holds is accepted; any other fails before the key is sent, whatever the environment says', async () => {
  const hangingUp = createPlainServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.resetAndDestroy());
  });
  const silent = createPlainServer((socket) => socket.on('error', () => undefined).end());
  const plain = createPlainServer((socket) => {
    socket.on('error', () => undefined).end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
  });
  const urls = [
    await serve({ name: 'good', san: HERE }),
    await serve({ name: 'self-signed', san: HERE, selfSigned: true }),
    await serve({ name: 'other-host', san: 'DNS:pay.example.com' }),
    await serve({ name: 'expired', san: HERE, from: '20200101000000Z', to: '20200201000000Z' }),
    await serve({ name: 'not-yet', san: HERE, from: '20900101000000Z', to: '20900201000000Z' }),
    await serve({ name: 'old-version', san: HERE }, 'TLSv1'),
    await listen(hangingUp),
    await listen(silent),
    await listen(plain),
  ];
  const [good, ...others] = await call(...urls);
  expect(good).toBe('HTTP 200');
  expect(others).toEqual([
    expect.stringMatching(/^not sent: .*DEPTH_ZERO_SELF_SIGNED_CERT/),
    expect.stringMatching(/^not sent: .*ERR_TLS_CERT_ALTNAME_INVALID/),
    expect.stringMatching(/^not sent: .*CERT_HAS_EXPIRED/),
    expect.stringMatching(/^not sent: .*CERT_NOT_YET_VALID/),
    expect.stringMatching(/^not sent: /),
    expect.stringMatching(/^not sent: .*ECONNRESET/),
    expect.stringMatching(/^not sent: .*ECONNRESET/),
    expect.stringMatching(/^not sent: /),
  ]);
  expect(requests).toBe(1);
});

describe('no line of the program switches the check of certificates off', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.(ts|tsx|js)$/.test(path),
  );
  const mentions = (pattern: RegExp): string[] =>
    files.flatMap((path) => readFileSync(join(SRC, path), 'utf8').match(pattern) ?? []);

  test('the check is asked for in one place, aloud', () => {
    expect(mentions(/rejectUnauthorized\b.*/g)).toEqual(['rejectUnauthorized: true, lookup });']);
  });
  test.each([/NODE_TLS_REJECT_UNAUTHORIZED/g, /checkServerIdentity/g, /insecureHTTPParser/gi])(
    '%s',
    (pattern) => {
      expect(mentions(pattern)).toEqual([]);
    },
  );
});
