import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DistributedSystem, SERVICES, type Replica } from '@tracking/system';
import { ManagedProcess, freePort, tempFolder } from '@tracking/testing';
import axios from 'axios';
import { MongoClient } from 'mongodb';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const PATH = { PATH: process.env['PATH'] ?? '' };
/** Receivers are on loopback here. */
const RECEIVERS = { WEBHOOKS_ALLOWED_CIDRS: '127.0.0.0/8,::1/128', WEBHOOKS_ALLOW_HTTP: 'true' };

/** A running product, as its users and operators reach it. */
export interface Subject {
  /** Where the API answers: of each gateway, where there are several. */
  readonly urls: readonly string[];
  /** Metrics and health of each process. */
  readonly managementUrls: readonly string[];
  /** All of it but the engines. */
  readonly processes: readonly ManagedProcess[];
  /** Environment in which the command line tool finds it. */
  readonly operator: Readonly<Record<string, string>>;
  /** Where its topics are read from outside; none where they cannot be. */
  readonly kafkaBrokers?: string;
  /** Ids of all whole objects in its object store. */
  objects(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** Everything in one process, on a folder of its own. */
export async function startStandalone(settings: Readonly<Record<string, string>>): Promise<Subject> {
  const folder = await tempFolder();
  const [port, managementPort] = [await freePort(), await freePort()];
  const DATA_DIR = join(folder.path, 'data');
  const addresses = { PORT: String(port), MANAGEMENT_PORT: String(managementPort) };
  const server = new ManagedProcess({
    name: 'standalone',
    command: process.execPath,
    args: ['--enable-source-maps', join(ROOT, 'apps/standalone/dist/main.js')],
    env: { ...PATH, ...RECEIVERS, ...settings, ...addresses, DATA_DIR },
    ready: /"msg":"listening"/,
    logFile: join(folder.path, 'standalone.log'),
  });
  await server.run();
  return {
    urls: [`http://127.0.0.1:${port}`],
    managementUrls: [`http://127.0.0.1:${managementPort}`],
    processes: [server],
    operator: { ...PATH, DATA_DIR },
    objects: () => readdir(join(DATA_DIR, 'objects')),
    stop: async () => {
      await server.stop();
      await folder.remove();
    },
  };
}

const { EVENTSTOREDB_URL, EVENTSTOREDB_START } = process.env;
/** Why the event store cannot be killed; undefined where it can. */
export const NOT_KILLED =
  EVENTSTOREDB_URL !== undefined && EVENTSTOREDB_START === undefined
    ? 'EVENTSTOREDB_START does not say how the node of EVENTSTOREDB_URL is started'
    : undefined;

export const ENGINES_DIR = resolve(ROOT, process.env['ENGINES_DIR'] ?? '../shared/engines');
/** Why the distributed system cannot be started on this machine; undefined where it can. */
export const NO_ENGINES = whyNoEngines();

function whyNoEngines(): string | undefined {
  if (!existsSync(ENGINES_DIR)) return `no engines in ${ENGINES_DIR}, see ENGINES_DIR`;
  return spawnSync('java', ['-version']).error && 'the engines need java';
}

/** Two replicas of each service, and their engines. */
export interface Services extends Subject {
  readonly system: DistributedSystem;
  /** Processes that ended although nobody asked for it. */
  readonly deaths: string[];
  /** Keeps the logs, until it is stopped. */
  readonly folder: string;
}

export async function startServices(settings: Readonly<Record<string, string>>): Promise<Services> {
  // Where told, logs outlive the run.
  const kept = process.env['E2E_LOGS'];
  const folder = kept === undefined ? await tempFolder() : undefined;
  const path = folder?.path ?? resolve(kept ?? '', String(process.pid));
  await mkdir(path, { recursive: true });
  const deaths: string[] = [];
  const system = await DistributedSystem.start({
    folder: path,
    enginesDir: ENGINES_DIR,
    eventStoreDbUrl: EVENTSTOREDB_URL,
    eventStoreDbStart: EVENTSTOREDB_START,
    replicas: 2,
    env: { ...RECEIVERS, ...settings },
    died: (name, code) => deaths.push(`${name} ended with ${code}`),
  });
  const { url, token } = system.administration;
  return {
    system,
    deaths,
    folder: path,
    urls: system.urls,
    managementUrls: SERVICES.flatMap((service) => system.services[service].map(({ managementUrl }) => managementUrl)),
    processes: SERVICES.flatMap((service) => system.services[service].map((replica) => replica.process)),
    operator: { ...PATH, ADMINISTRATION_URL: url, ADMINISTRATION_TOKEN: token },
    kafkaBrokers: system.engines.kafkaBrokers,
    objects: () => objectsIn(system.engines.mongoUrl),
    stop: async () => {
      await system.stop();
      await folder?.remove();
    },
  };
}

/** Chunks too, so that none outlives its file. */
async function objectsIn(mongoUrl: string): Promise<readonly string[]> {
  const mongo = await MongoClient.connect(mongoUrl);
  try {
    const chunks = mongo.db().collection('objects.chunks');
    return (await chunks.distinct('files_id')).map(String);
  } finally {
    await mongo.close();
  }
}

/** What a metric of a replica stands at, all its labels together. */
export async function measured({ managementUrl }: Replica, metric: string): Promise<number> {
  const { data } = await axios.get<string>(`${managementUrl}/metrics`, { proxy: false, timeout: 5_000 });
  const lines = data.split('\n').filter((line) => line.startsWith(metric));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** Runs the command line tool; answers what it printed. @throws where it fails */
export async function cli({ operator }: Subject, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, 'apps/cli/dist/main.js'), ...args], {
    cwd: ROOT,
    env: operator,
    maxBuffer: 64 * 2 ** 20,
  });
  return stdout.trim();
}

/** The same with `--json`. */
export async function cliJson<T>(subject: Subject, ...args: string[]): Promise<T> {
  return JSON.parse(await cli(subject, ...args, '--json')) as T;
}
