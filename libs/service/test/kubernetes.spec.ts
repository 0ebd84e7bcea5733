import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SETTINGS } from '@tracking/runtime';
import { parse } from 'yaml';
import { loadAppConfig } from './app-config.ts';
import {
  applyKustomizePatch,
  parseKubernetesManifests,
  type KubernetesContainer,
  type KubernetesPod,
  type KubernetesResource,
} from './kubernetes.ts';

const folder = fileURLToPath(new URL('../../../deploy/k8s/', import.meta.url));
const SERVICES = ['gateway', 'shipments', 'projections', 'webhooks'];
const APPS = [...SERVICES, 'setup'];
/** Secrets and settings that an operator adds (docs/guides/deployment.md). */
const SECRETS = {
  MONGODB_URL: 'mongodb://tracking:secret@mongodb.example.com/tracking?replicaSet=rs0',
  EVENTSTOREDB_URL: 'esdb://tracking:secret@eventstoredb.example.com:2113',
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
  SERVICES_TOKEN: 's'.repeat(32),
  ADMINISTRATION_TOKEN: 'a'.repeat(32),
};
const OPERATORS = {
  KAFKA_BROKERS: 'kafka-1.example.com:9092,kafka-2.example.com:9092',
  BASE_URL: 'https://tracking.example.com',
};

interface Kustomization {
  readonly resources: readonly string[];
  readonly patches: readonly { readonly path: string; readonly target: { readonly kind: string } }[];
  readonly configMapGenerator: readonly [{ readonly name: string; readonly literals: readonly string[] }];
}

let kustomization: Kustomization;
let resources: readonly KubernetesResource[];

const read = (name: string) => readFile(join(folder, name), 'utf8');

beforeAll(async () => {
  kustomization = parse(await read('kustomization.yaml')) as Kustomization;
  const patches = await Promise.all(
    kustomization.patches.map(async ({ path, target }) => ({
      kind: target.kind,
      spec: (parse(await read(path)) as { readonly spec: object }).spec,
    })),
  );
  const texts = await Promise.all(kustomization.resources.map(read));
  resources = texts
    .flatMap(parseKubernetesManifests)
    .map((resource) =>
      patches
        .filter(({ kind }) => kind === resource.kind)
        .reduce<KubernetesResource>(
          (one, { spec }) => ({ ...one, spec: applyKustomizePatch(one.spec, spec) }),
          resource,
        ),
    );
});

function named(kind: string, name: string): KubernetesResource {
  const found = resources.find((one) => one.kind === kind && one.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
}
function podOf(app: string): KubernetesPod {
  const { template } = named(app === 'setup' ? 'Job' : 'Deployment', app).spec;
  if (template === undefined) throw new Error(`${app} has no pods`);
  return template;
}
const containerOf = (app: string): KubernetesContainer => podOf(app).spec.containers[0];
const settings = (): Record<string, string> =>
  Object.fromEntries(
    kustomization.configMapGenerator[0].literals.map((literal) => {
      const at = literal.indexOf('=');
      return [literal.slice(0, at), literal.slice(at + 1)];
    }),
  );

/** Returns the container's environment with the operator's values. */
function environmentOf({ env }: KubernetesContainer, app: string): Record<string, string | undefined> {
  const secrets = env.map(({ name, valueFrom: { secretKeyRef } }) => {
    const value: string | undefined = (SECRETS as Readonly<Record<string, string>>)[secretKeyRef.key];
    if (value === undefined && !secretKeyRef.optional) throw new Error(`${app} asks for ${secretKeyRef.key}`);
    return [name, value];
  });
  return { ...settings(), ...OPERATORS, ...Object.fromEntries(secrets) };
}

/** Reads the settings of the wait for the turn of a service. @throws ConfigError */
async function loadTurn(service: string, environment: object): Promise<object> {
  const path = '../../../apps/setup/src/config.ts';
  const { loadServiceUpdateTurnConfig } = (await import(path)) as {
    loadServiceUpdateTurnConfig(service: string, env: object): object;
  };
  return loadServiceUpdateTurnConfig(service, environment);
}

describe('deploy/k8s', () => {
  it('uses all files of its folder', async () => {
    const used = [...kustomization.resources, ...kustomization.patches.map(({ path }) => path), 'kustomization.yaml'];
    const entries = await readdir(folder, { withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    expect(files.sort()).toEqual([...new Set(used)].sort());
  });

  describe.each(APPS)('%s', (app) => {
    it('is an application of the single image, with valid settings', async () => {
      expect(containerOf(app)).toMatchObject({ image: 'tracking', args: [`apps/${app}/dist/main.js`] });
      expect(containerOf(app).envFrom).toEqual([{ configMapRef: { name: kustomization.configMapGenerator[0].name } }]);
      await expect(loadAppConfig(app, environmentOf(containerOf(app), app))).resolves.toBeDefined();
    });

    it('has exactly the secrets that it reads', () => {
      const reads = (name: string) =>
        (SETTINGS as Readonly<Record<string, { programs: readonly string[] }>>)[name]?.programs ?? [];
      const given = containerOf(app).env.map(({ name }) => name);
      for (const name of given) expect([name, reads(name)]).toEqual([name, expect.arrayContaining([app])]);
      const needed = [...Object.keys(SECRETS), 'ADMIN_PASSWORD', 'KAFKA_SASL_PASSWORD'];
      expect(needed.filter((name) => reads(name).includes(app)).sort()).toEqual([...given].sort());
    });

    it('runs without root, and writes only to /tmp', () => {
      expect(podOf(app).spec).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true },
      });
      expect(containerOf(app)).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
      });
    });
  });

  describe.each(SERVICES)('%s', (app) => {
    it('has probes at its health endpoints', async () => {
      const { managementPort } = (await loadAppConfig(app, environmentOf(containerOf(app), app))) as {
        managementPort: number;
      };
      const { ports = [], readinessProbe, livenessProbe } = containerOf(app);
      expect(ports).toContainEqual({ name: 'management', containerPort: managementPort });
      expect(readinessProbe?.httpGet).toEqual({ path: '/health/ready', port: 'management' });
      expect(livenessProbe?.httpGet).toEqual({ path: '/health/live', port: 'management' });
    });

    it('waits for its turn in an update, with the settings and the restrictions of the service', async () => {
      const { initContainers = [] } = podOf(app).spec;
      expect(initContainers).toHaveLength(1);
      const [turn] = initContainers as readonly [KubernetesContainer];
      expect(turn).toMatchObject({ image: 'tracking', args: ['apps/setup/dist/main.js', 'wait', app] });
      const { envFrom, securityContext, volumeMounts } = containerOf(app);
      expect(turn).toMatchObject({ envFrom, securityContext, volumeMounts });
      await expect(loadTurn(app, environmentOf(turn, app))).resolves.toMatchObject({ service: app });
      // A set-up can build indexes for half an hour.
      expect(named('Deployment', app).spec.progressDeadlineSeconds).toBeGreaterThan(1_800);
    });

    it('has replicas that stop one at a time, in order', () => {
      const { replicas = 1, selector, template } = named('Deployment', app).spec;
      expect(replicas).toBeGreaterThan(1);
      expect(selector).toEqual({ matchLabels: template?.metadata.labels });
      expect(named('PodDisruptionBudget', app).spec).toMatchObject({ selector, maxUnavailable: 1 });
      // Grace period: 20 s for the process to stop, after the wait before its signal.
      const before = Number(containerOf(app).lifecycle?.preStop.exec.command[1] ?? 0);
      expect(podOf(app).spec.terminationGracePeriodSeconds).toBeGreaterThan(before + 20);
    });
  });

  it('has services with the names that the other services use, for all replicas', async () => {
    const { SHIPMENTS_URL, WEBHOOKS_URL } = settings();
    for (const [app, url] of Object.entries({ shipments: SHIPMENTS_URL, webhooks: WEBHOOKS_URL })) {
      const { clusterIP, ports, selector } = named('Service', app).spec;
      expect(url).toBe(`${app}:${ports?.[0]?.port}`);
      expect([clusterIP, selector]).toEqual(['None', podOf(app).metadata.labels]);
      const listening = containerOf(app).ports?.find(({ name }) => name === ports?.[0]?.targetPort);
      expect(await loadAppConfig(app, environmentOf(containerOf(app), app))).toMatchObject({
        address: `0.0.0.0:${listening?.containerPort}`,
      });
    }
    expect(named('Service', 'gateway').spec).toMatchObject({
      selector: podOf('gateway').metadata.labels,
      ports: [{ targetPort: 'http' }],
    });
    const http = containerOf('gateway').ports?.find(({ name }) => name === 'http');
    expect(await loadAppConfig('gateway', environmentOf(containerOf('gateway'), 'gateway'))).toMatchObject({
      host: '0.0.0.0',
      port: http?.containerPort,
    });
  });

  it('accepts only declared connections', () => {
    const policies = resources.filter(({ kind }) => kind === 'NetworkPolicy');
    const isOf = (app: string, labels: Readonly<Record<string, string>> | undefined) =>
      Object.entries(labels ?? {}).every(([name, value]) => podOf(app).metadata.labels[name] === value);
    const admitted = APPS.flatMap((app) =>
      policies
        .filter(({ spec }) => isOf(app, spec.podSelector?.matchLabels))
        .flatMap(({ spec }) => spec.ingress ?? [])
        .flatMap(({ from, ports }) =>
          ports.flatMap(({ port }) =>
            (from ?? [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'anybody' } } }]).map(
              ({ podSelector }) => `${podSelector.matchLabels['app.kubernetes.io/name']} ${app}:${port}`,
            ),
          ),
        ),
    );
    expect(admitted.filter((each) => !each.startsWith('prometheus '))).toEqual([
      'anybody gateway:3000',
      'gateway shipments:4001',
      'webhooks shipments:4001',
      'gateway projections:4003',
      'shipments projections:4003',
      'gateway webhooks:4002',
      'webhooks webhooks:4002',
    ]);
    expect(
      policies.some(({ spec }) => APPS.every((app) => isOf(app, spec.podSelector?.matchLabels)) && !spec.ingress),
    ).toBe(true);
  });
});

describe('deploy/k8s/mcp', () => {
  it('runs the MCP server of the image without root and secrets, with valid settings and probes', async () => {
    const component = parse(await read('mcp/kustomization.yaml')) as {
      readonly kind: string;
      readonly resources: object;
    };
    expect(component).toMatchObject({ kind: 'Component', resources: ['mcp.yaml'] });
    const manifests = parseKubernetesManifests(await read('mcp/mcp.yaml'));
    const specOf = (kind: string) => manifests.find((one) => one.kind === kind)?.spec;
    const { template, selector } = specOf('Deployment') ?? {};
    const [container] = template?.spec.containers ?? [];
    const env = (container?.env ?? []) as readonly { readonly name: string; readonly value?: string }[];
    const config = await loadAppConfig('mcp', Object.fromEntries(env.map(({ name, value }) => [name, value])));
    expect(config).toMatchObject({ transport: 'http', apiKey: undefined, host: '0.0.0.0', allowWrites: false });
    expect(config).toMatchObject({ port: container?.ports?.[0]?.containerPort, managementPort: 9464 });
    expect(container).toMatchObject({
      image: 'tracking',
      args: ['apps/mcp/dist/main.js'],
      readinessProbe: { httpGet: { path: '/health/ready', port: 'management' } },
      livenessProbe: { httpGet: { path: '/health/live', port: 'management' } },
      securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
    });
    expect(template?.spec.securityContext).toMatchObject({ runAsNonRoot: true });
    expect(selector).toEqual({ matchLabels: template?.metadata.labels });
    expect(specOf('NetworkPolicy')?.ingress).toEqual([{ ports: [{ port: 3100 }] }]);
  });
});
