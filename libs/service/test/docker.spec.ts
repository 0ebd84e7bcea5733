import { execFileSync } from 'node:child_process';
import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { ConfigReader } from '@tracking/runtime';
import { createTempFolder, type TempFolder } from '@tracking/testing';
import { loadAppConfig } from './app-config.ts';
import {
  readEnvironmentOfComposeService,
  parseComposeFile,
  type ComposeFile,
  type ComposeService,
} from './docker-compose.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFile(join(root, path), 'utf8');

const SECRETS = ['SECRETS_KEY', 'SERVICES_TOKEN', 'ADMINISTRATION_TOKEN'];
const SERVICES = ['gateway', 'shipments', 'projections', 'webhooks'];
const APPS = [...SERVICES, 'mcp', 'setup'];
const ENGINES = ['eventstoredb', 'kafka', 'mongodb'];

let folder: TempFolder;
let text: string;
let secrets: Record<string, string>;
let compose: ComposeFile;

/** Runs `make-secrets` in a folder with only that script. */
async function makeSecrets(): Promise<string> {
  const script = join(folder.path, 'deploy/docker/make-secrets');
  await mkdir(dirname(script), { recursive: true });
  await cp(join(root, 'deploy/docker/make-secrets'), script);
  execFileSync(script);
  return readFile(join(folder.path, '.env'), 'utf8');
}

function variablesOf(env: string): Record<string, string> {
  const lines = env.split('\n').filter((line) => line !== '');
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

function service(name: string): ComposeService {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`no service ${name}`);
  return found;
}

/** Loads an application's config from its container's environment. @throws ConfigError */
const configOfService = (name: string) => loadAppConfig(name, readEnvironmentOfComposeService(service(name), secrets));

beforeAll(async () => {
  folder = await createTempFolder();
  text = await read('docker-compose.yml');
  secrets = variablesOf(await makeSecrets());
});
beforeEach(() => void (compose = parseComposeFile(text, secrets)));
afterAll(() => folder.remove());

describe('docker-compose.yml', () => {
  it('holds the services, their set-up and the engines', () => {
    expect(Object.keys(compose.services).sort()).toEqual([...APPS, ...ENGINES].sort());
  });

  describe.each(APPS)('%s', (name) => {
    it('has only valid settings', async () => {
      await expect(configOfService(name)).resolves.toBeDefined();
    });

    it('has no setting that it does not know', async () => {
      const known = jest.spyOn(ConfigReader.prototype, 'readSetting');
      await configOfService(name);
      const names = known.mock.calls.map(([variable]) => variable);
      known.mockRestore();
      expect(names).toEqual(expect.arrayContaining(Object.keys(service(name).environment ?? {})));
    });

    it('waits for every service whose address it has, and shares a network with it', () => {
      const values = Object.values(readEnvironmentOfComposeService(service(name), secrets)).join(' ');
      const named = Object.keys(compose.services).filter((other) => new RegExp(`\\b${other}:\\d`).test(values));
      const { depends_on: dependencies = {}, networks = [] } = service(name);
      expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(named));
      for (const other of named)
        expect(service(other).networks?.some((network) => networks.includes(network))).toBe(true);
    });

    it('runs an application of the single image', async () => {
      const [main = '', ...others] = service(name).command ?? [];
      expect(others).toEqual([]);
      expect(main).toBe(`apps/${name}/dist/main.js`);
      await expect(stat(join(root, main.replace('/dist/', '/src/').replace(/js$/, 'ts')))).resolves.toBeDefined();
      expect(await read('deploy/docker/Dockerfile')).toContain(`--workspace apps/${name} `);
      expect(service(name).image).toBe(service('setup').image);
    });
  });

  it('listens on the address that the other services use, not on loopback', async () => {
    const { SHIPMENTS_URL, WEBHOOKS_URL } = service('gateway').environment ?? {};
    expect(await configOfService('shipments')).toMatchObject({
      address: SHIPMENTS_URL?.replace('shipments', '0.0.0.0'),
    });
    expect(await configOfService('webhooks')).toMatchObject({ address: WEBHOOKS_URL?.replace('webhooks', '0.0.0.0') });
    expect(await configOfService('gateway')).toMatchObject({ host: '0.0.0.0', port: 3000, managementHost: '0.0.0.0' });
    for (const name of [...SERVICES, 'mcp']) {
      expect(await configOfService(name)).toMatchObject({ managementPort: 9464 });
    }
    expect(await configOfService('mcp')).toMatchObject({
      host: '0.0.0.0',
      port: 3100,
      trackingUrl: 'http://gateway:3000',
    });
  });

  it('starts the MCP server only on request', () => {
    expect(service('mcp').profiles).toEqual(['mcp']);
    for (const name of SERVICES) expect(service(name).profiles).toBeUndefined();
  });

  it('starts in an order without cycles, each on a condition that the other can meet', () => {
    const started = new Set<string>();
    const start = (name: string, waiting: readonly string[]): void => {
      expect(waiting).not.toContain(name);
      for (const [other, { condition }] of Object.entries(service(name).depends_on ?? {})) {
        if (condition === 'service_healthy') expect(service(other).healthcheck).toBeDefined();
        else expect([condition, service(other).restart]).toEqual(['service_completed_successfully', 'no']);
        start(other, [...waiting, name]);
      }
      started.add(name);
    };
    // The API starts after all other services, and the optional MCP server after the API.
    start('mcp', []);
    expect([...started].sort()).toEqual(Object.keys(compose.services).sort());
  });

  it('updates the services in the order in which they must learn new events', () => {
    const order = ['setup', 'projections', 'shipments', 'webhooks', 'gateway'];
    for (const [index, name] of order.entries()) {
      expect(Object.keys(service(name).depends_on ?? {})).toEqual(
        expect.arrayContaining(order.slice(Math.max(0, index - 1), index)),
      );
    }
  });

  it("publishes the API, and to this machine only, the gateway's management port and the MCP server", () => {
    const published = Object.entries(compose.services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => `${name} ${port}`),
    );
    expect(published).toEqual(['gateway 3000:3000', 'gateway 127.0.0.1:9464:9464', 'mcp 127.0.0.1:3100:3100']);
  });

  it('has engines without published ports', () => {
    expect(compose.networks['inside']).toEqual({ internal: true });
    for (const name of ENGINES) expect(service(name).networks).toEqual(['inside']);
  });

  it('allows replicas of every service', () => {
    for (const { container_name: name } of Object.values(compose.services)) expect(name).toBeUndefined();
    const two = { ...secrets, API_PORTS: '3000-3001', MANAGEMENT_PORTS: '9464-9465' };
    const { gateway } = parseComposeFile(text, two).services;
    expect(gateway?.ports).toEqual(['3000-3001:3000', '127.0.0.1:9464-9465:9464']);
  });

  it('stores data in named volumes, and limits its logs', () => {
    for (const name of ENGINES) {
      const volumes = service(name).volumes ?? [];
      expect(volumes.length).toBeGreaterThan(0);
      for (const volume of volumes) expect(Object.keys(compose.volumes)).toContain(String(volume).split(':')[0]);
    }
    for (const { logging } of Object.values(compose.services)) {
      expect(Object.keys(logging?.options ?? {}).sort()).toEqual(['max-file', 'max-size']);
    }
  });

  it('restarts after a crash, and has time for an orderly shutdown', () => {
    for (const name of [...SERVICES, ...ENGINES]) {
      expect(service(name).restart).toBe('unless-stopped');
      expect(parseInt(service(name).stop_grace_period ?? '', 10)).toBeGreaterThan(20);
    }
  });

  it.each([
    ['nothing', {}, '/dev/null', undefined],
    ['the operator’s list', { PLACES_FILE: './unlocode.csv' }, './unlocode.csv', '/etc/tracking/places.csv'],
  ])('mounts %s at the path that the services expect', async (_what, chosen, source, placesFile) => {
    const variables = { ...secrets, ...chosen };
    compose = parseComposeFile(text, variables);
    const checking = [];
    for (const name of APPS) {
      const config = await configOfService(name);
      if (!('placesFile' in config)) continue;
      checking.push(name);
      expect(config.placesFile).toBe(placesFile);
      const mount = { type: 'bind', source, target: '/etc/tracking/places.csv', read_only: true };
      // Compose reports a missing file instead of creating a folder.
      expect(service(name).volumes).toEqual([{ ...mount, bind: { create_host_path: false } }]);
    }
    expect(checking).toEqual(['gateway', 'shipments']);
  });

  it("passes the operator's settings to the services", async () => {
    const chosen = {
      ...secrets,
      BASE_URL: 'https://api.example.com',
      RATE_LIMIT_PER_MINUTE: '5',
      WEBHOOKS_TIMEOUT: '3s',
    };
    const { gateway = {}, shipments = {}, webhooks = {} } = parseComposeFile(text, chosen).services;
    expect(readEnvironmentOfComposeService(gateway, chosen)).toMatchObject({
      RATE_LIMIT_PER_MINUTE: '5',
      BASE_URL: chosen.BASE_URL,
    });
    expect(readEnvironmentOfComposeService(shipments, chosen)).toMatchObject({ APP_URL: chosen.BASE_URL });
    expect(readEnvironmentOfComposeService(webhooks, chosen)).toMatchObject({
      WEBHOOKS_TIMEOUT: '3s',
      APP_URL: chosen.BASE_URL,
    });
  });
});

describe('secrets', () => {
  it.each(SECRETS)('%s is not in the file, and without it Compose names the script that creates it', (name) => {
    const { [name]: _, ...others } = secrets;
    expect(() => parseComposeFile(text, others)).toThrow(`${name}: run deploy/docker/make-secrets first`);
    const given = Object.values(compose.services).flatMap(({ environment }) => environment?.[name] ?? []);
    expect(new Set(given)).toEqual(new Set([secrets[name]]));
  });

  it('are created once, readable by their owner only, beside existing contents of the file', async () => {
    const kept: Record<string, string> = { ...secrets, SECRETS_KEY: 'chosen', BASE_URL: 'https://api.example.com' };
    const { SERVICES_TOKEN: _, ...rest } = kept;
    const file = join(folder.path, '.env');
    // A file without a last line feed, as some editors write it.
    const lines = Object.entries(rest).map((entry) => entry.join('='));
    await writeFile(file, lines.join('\n'));
    await chmod(file, 0o644);

    const made = variablesOf(await makeSecrets());
    expect(made).toEqual({ ...kept, SERVICES_TOKEN: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/) });
    expect(made['SERVICES_TOKEN']).not.toBe(secrets['SERVICES_TOKEN']);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(variablesOf(await makeSecrets())).toEqual(made);
  });

  it('are neither in the repository nor in the image', async () => {
    expect((await read('.gitignore')).split('\n')).toContain('.env');
    expect((await read('.dockerignore')).split('\n')).toContain('.env');
  });
});

describe('the image', () => {
  let dockerfile: string;
  /** Returns true if Docker excludes the file, or a folder that contains it, from the build. */
  let isIgnored: (path: string) => boolean;

  beforeEach(async () => {
    dockerfile = await read('deploy/docker/Dockerfile');
    const patterns = (await read('.dockerignore')).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    isIgnored = (path) => {
      const parts = path.split('/');
      const paths = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
      return paths.some((one) => patterns.some((pattern) => matchesGlob(one, pattern)));
    };
  });

  it('is built from the Dockerfile that Compose names', async () => {
    const { context = '', dockerfile: path = '' } = service('setup').build ?? {};
    expect(await read(join(context, path))).toBe(dockerfile);
  });

  it('copies files that exist and are not ignored', async () => {
    const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, list = '']) => list.split(' '));
    expect(sources.length).toBeGreaterThan(0);
    for (const source of sources) {
      await expect(stat(join(root, source))).resolves.toBeDefined();
      expect(isIgnored(source)).toBe(false);
    }
  });

  it('is built from all sources, without build results', async () => {
    const folders = ['apps', 'libs', 'bench'];
    const below = await Promise.all(
      folders.map(async (name) =>
        (await readdir(join(root, name), { recursive: true })).map((path) => `${name}/${path}`),
      ),
    );
    const sources = below.flat().filter((path) => !/(^|\/)(dist|node_modules)(\/|$)/.test(path));
    expect(sources).toContain('apps/gateway/src/main.ts');
    expect([...sources, 'package-lock.json', 'nx.json', '.swcrc', 'LICENSE'].filter(isIgnored)).toEqual([]);
    const made = ['node_modules', 'libs/http/node_modules', 'apps/gateway/dist', '.nx', 'data', '.env', '.git'];
    expect(made.filter(isIgnored)).toEqual(made);
  });

  it('installs packages before it copies sources, so that changed sources do not reinstall them', () => {
    const stages = dockerfile.split(/^(?=FROM )/m);
    const instructions = (stage: string) =>
      [...stage.matchAll(/^(?:COPY|ADD|RUN) (?:.*\\\n)*.*$/gm)].map(([each]) => each);
    const installing = stages.filter((stage) => stage.includes('npm ci'));
    expect(installing).toHaveLength(2);
    for (const stage of installing) {
      const all = instructions(stage);
      const before = all.slice(
        0,
        all.findIndex((each) => each.includes('npm ci')),
      );
      expect(before).toEqual(['COPY --from=manifests /manifests ./']);
    }
    const manifests = stages.find((stage) => stage.includes(' AS manifests\n')) ?? '';
    const [, ...made] = instructions(manifests);
    expect(made).toEqual([expect.stringContaining('! -name package.json ! -name package-lock.json -delete')]);
  });

  it('runs without root, and contains only production dependencies', () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    expect(last.match(/^(COPY|RUN|ADD) .*$/gm)).toEqual([
      'COPY --from=packages /release ./',
      'COPY --from=build /release ./',
      'COPY --from=identified /release-id ./',
    ]);
    expect(last).toMatch(/^USER node$/m);
    expect(last).toMatch(/^ENV NODE_ENV=production /m);
  });

  it('has an id that depends on the contents, the paths and the links of its files, and on nothing else', async () => {
    const [, script = ''] = /^RUN (\(find .+\\\n.+) >\/release-id$/m.exec(dockerfile) ?? [];
    const release = join(folder.path, 'release');
    const identify = () => execFileSync('sh', ['-c', script], { cwd: release, encoding: 'utf8' }).trim();
    const write = async (path: string, content: string) => {
      await mkdir(dirname(join(release, path)), { recursive: true });
      await writeFile(join(release, path), content);
    };
    await write('apps/one/dist/main.js', '1');
    await write('apps/two words.js', '2');
    await symlink('apps/one', join(release, 'link'));
    const first = identify();
    expect(first).toMatch(/^[0-9a-f]{16}$/);

    await utimes(join(release, 'apps/two words.js'), 0, 0);
    await rm(join(release, 'apps/one'), { recursive: true });
    await write('apps/one/dist/main.js', '1');
    expect(identify()).toBe(first);

    const ids = new Set([first]);
    await write('apps/one/dist/main.js', '3');
    ids.add(identify());
    await rename(join(release, 'apps/two words.js'), join(release, 'apps/two.js'));
    ids.add(identify());
    await rm(join(release, 'link'));
    await symlink('apps/two.js', join(release, 'link'));
    ids.add(identify());
    expect(ids.size).toBe(4);
  });

  it('gives every process the id', () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    const [, workdir = ''] = /^WORKDIR (.+)$/m.exec(last) ?? [];
    expect(last).toMatch(new RegExp(`^ENV .*\\bRELEASE_FILE=${workdir}/release-id$`, 'm'));
  });
});
