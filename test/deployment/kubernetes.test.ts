import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { buildWorkerApp } from '../../src/app.ts';
import { listen, type RunningServer } from '../../src/platform/http-server.ts';
import { startProgram, type TestProgram } from '../support/program.ts';

// What the manifests promise. No cluster has to be there: they are read as data and held against the files and the running program.

const read = (path: string): string => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), 'utf8');

const Probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const Container = z.object({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()).default([]),
  env: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  startupProbe: Probe.optional(),
  livenessProbe: Probe.optional(),
  readinessProbe: Probe.optional(),
  lifecycle: z.object({ preStop: z.object({ sleep: z.object({ seconds: z.number() }) }) }).optional(),
  // No limit of the processor: a node that is throttled answers late, and its probes with it.
  resources: z.object({
    requests: z.object({ cpu: z.string(), memory: z.string() }),
    limits: z.strictObject({ memory: z.string() }),
  }),
  securityContext: z.object({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
  }),
});
const Deployment = z.object({
  kind: z.literal('Deployment'),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    replicas: z.number(),
    template: z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()) }),
      spec: z.object({
        automountServiceAccountToken: z.literal(false),
        terminationGracePeriodSeconds: z.number(),
        securityContext: z.object({ runAsNonRoot: z.literal(true), runAsUser: z.number().positive() }),
        containers: z.array(Container),
        volumes: z.array(z.object({ configMap: z.object({ name: z.string() }).optional() })),
      }),
    }),
  }),
});
const Budget = z.object({
  apiVersion: z.literal('policy/v1'),
  kind: z.literal('PodDisruptionBudget'),
  spec: z.strictObject({
    minAvailable: z.number().int().positive(),
    selector: z.strictObject({ matchLabels: z.record(z.string(), z.string()) }),
  }),
});
const Kustomization = z.object({
  resources: z.array(z.string()),
  configMapGenerator: z.array(
    z.object({
      name: z.string(),
      literals: z.array(z.string()).default([]),
      files: z.array(z.string()).default([]),
    }),
  ),
});

const kustomization = Kustomization.parse(parse(read('kustomization.yaml')));
const resources = kustomization.resources.flatMap((file) =>
  parseAllDocuments(read(file)).map((document) => document.toJS() as { kind: string }),
);
const deployments = resources
  .filter(({ kind }) => kind === 'Deployment')
  .map((resource) => Deployment.parse(resource));
const budgets = resources.flatMap((resource) =>
  resource.kind === 'PodDisruptionBudget' ? [Budget.parse(resource)] : [],
);
const containers = deployments.flatMap(({ spec }) => spec.template.spec.containers);

let shop: TestProgram;
let worker: RunningServer;
beforeAll(async () => {
  shop = await startProgram();
  worker = await listen(
    buildWorkerApp(shop.program, () => null),
    '127.0.0.1',
    0,
  );
});
afterAll(async () => {
  await worker.close(0);
  await shop.close();
});

test('servers and workers run twice, as nobody, on a read-only root, without a capability', () => {
  expect(deployments.map(({ metadata }) => metadata.name)).toEqual([
    'integrator-server',
    'integrator-worker',
  ]);
  for (const { spec } of deployments) expect(spec.replicas).toBe(2);
  expect(containers.map(({ name }) => name)).toEqual(['server', 'proxy', 'worker']);
});

test('what kustomize puts together is there: files, maps that are mounted, programs that are built', () => {
  const maps = kustomization.configMapGenerator;
  for (const file of maps.flatMap(({ files }) => files).map((name) => name.replace(/^.*=/, '')))
    expect(existsSync(new URL(`../../deploy/${file}`, import.meta.url))).toBe(true);
  const mounted = deployments.flatMap(({ spec }) =>
    spec.template.spec.volumes.flatMap(({ configMap }) => configMap?.name ?? []),
  );
  expect(maps.map(({ name }) => name)).toEqual(expect.arrayContaining(mounted));
  for (const [program = ''] of containers.map(({ args }) => args).filter((args) => args.length > 0))
    expect(existsSync(program.replace(/^dist\/(.*)\.js$/, 'src/$1.ts'))).toBe(true);
});

test('machines can be drained, and one pod of each kind stays', () => {
  for (const { spec } of deployments) {
    const { labels } = spec.template.metadata;
    const [budget, ...others] = budgets.filter(({ spec: { selector } }) =>
      Object.entries(selector.matchLabels).every(([name, value]) => labels[name] === value),
    );
    expect(others).toEqual([]);
    expect(budget?.spec.minAvailable).toBeLessThan(spec.replicas);
  }
});

test('every variable that is set is one that the program reads', () => {
  const known = readFileSync('.env.example', 'utf8').match(/^[A-Z_]+(?==)/gm);
  const set = kustomization.configMapGenerator
    .flatMap(({ literals }) => literals)
    .map((line) => line.replace(/=.*/, ''));
  expect(set.length).toBeGreaterThan(3);
  expect(known).toEqual(expect.arrayContaining(set));
  expect(known).toEqual(expect.arrayContaining(containers.flatMap(({ env }) => env.map(({ name }) => name))));
});

test('every probe asks a path that answers, at a port that the container names', async () => {
  const probed = containers.filter(({ livenessProbe }) => livenessProbe !== undefined);
  expect(probed.map(({ name }) => name)).toEqual(['server', 'worker']);
  for (const { name, startupProbe, livenessProbe, readinessProbe, ports } of probed)
    for (const { path, port } of [startupProbe, livenessProbe, readinessProbe].map(
      (probe) => Probe.parse(probe).httpGet,
    )) {
      expect(ports.map(({ name }) => name)).toContain(port);
      const origin = name === 'server' ? shop.origin : `http://127.0.0.1:${worker.port}`;
      expect((await fetch(`${origin}${path}`)).status).toBe(200);
    }
});

test('a node has its ten seconds after the pause before the stop, and the proxy outlives them', () => {
  for (const { spec } of deployments) {
    const { terminationGracePeriodSeconds, containers } = spec.template.spec;
    const pauseOf = (kind: string): number =>
      containers.find(({ name }) => name === kind)?.lifecycle?.preStop.sleep.seconds ?? 0;
    expect(terminationGracePeriodSeconds).toBeGreaterThan(pauseOf('server') + 10);
    if (pauseOf('proxy') > 0) expect(pauseOf('proxy')).toBeGreaterThan(pauseOf('server'));
  }
});
