import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  DistributedSystem,
  type DistributedSystemOptions,
  NODE_FLAGS,
  SERVICE_NAMES,
  type ServiceReplica,
} from '@tracking/system';
import { ManagedProcess, findFreePort, createTempFolder, replaceDatabaseInMongoUrl } from '@tracking/testing';
import axios from 'axios';
import { MongoClient } from 'mongodb';

export const REPOSITORY_ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const ENVIRONMENT_VARIABLES_WITH_PATH = { PATH: process.env['PATH'] ?? '' };
/** Settings that allow receivers on loopback. */
const SETTINGS_ALLOWING_LOCAL_RECEIVERS = {
  WEBHOOKS_ALLOWED_CIDRS: '127.0.0.0/8,::1/128',
  WEBHOOKS_ALLOW_HTTP: 'true',
};

/** Addresses of a running system, as plain data that suites in several processes share. */
export interface SystemAddresses {
  /** Base URLs of the API, one per gateway. */
  readonly urls: readonly string[];
  /** Base URLs of metrics and health, one per process. */
  readonly managementUrls: readonly string[];
  /** Environment variables with which the command line finds the product. */
  readonly operator: Readonly<Record<string, string>>;
  /** Kafka brokers. Absent if the topics cannot be read from outside. */
  readonly kafkaBrokers?: string;
  /** Folder or MongoDB URL in which the system under test stores the files of documents. */
  readonly objectStore: { readonly folder: string } | { readonly mongoUrl: string };
}

/** Running system with the interfaces of its users and operators. */
export interface SystemUnderTest extends SystemAddresses {
  /** Ids of all complete objects in the object store. */
  objects(): Promise<readonly string[]>;
}

/** System that one suite, or the whole run, starts and stops. */
export interface StartedSystem extends SystemUnderTest {
  readonly address: SystemAddresses;
  /** All processes except the engines. */
  readonly processes: readonly ManagedProcess[];
  /** Processes that ended unexpectedly, with their exit codes. */
  readonly deaths: string[];
  stop(): Promise<void>;
}

function createSystemUnderTest(address: SystemAddresses): SystemUnderTest {
  const { objectStore } = address;
  return {
    ...address,
    objects: () => ('folder' in objectStore ? readdir(objectStore.folder) : listObjectIds(objectStore.mongoUrl)),
  };
}

/**
 * Returns the standalone server that the suites of this run share. Each suite uses its own workspaces, and does not
 * stop processes or change global data.
 */
export async function findSharedStandaloneServer(): Promise<SystemUnderTest> {
  const { data } = await axios.get<SystemAddresses>(String(process.env['E2E_STANDALONE']), { proxy: false });
  return createSystemUnderTest(data);
}

/** Starts the whole system in one process with its own data folder. */
export async function startStandaloneSystem(settings: Readonly<Record<string, string>>): Promise<StartedSystem> {
  const folder = await createTempFolder();
  const [port, managementPort] = [await findFreePort(), await findFreePort()];
  const DATA_DIR = join(folder.path, 'data');
  const deaths: string[] = [];
  const server = new ManagedProcess(
    {
      name: 'standalone',
      command: process.execPath,
      args: [...NODE_FLAGS, join(REPOSITORY_ROOT, 'apps/standalone/dist/main.js')],
      env: {
        ...ENVIRONMENT_VARIABLES_WITH_PATH,
        ...SETTINGS_ALLOWING_LOCAL_RECEIVERS,
        ...settings,
        PORT: String(port),
        MANAGEMENT_PORT: String(managementPort),
        DATA_DIR,
      },
      ready: /"msg":"listening"/,
      logFile: join(folder.path, 'standalone.log'),
    },
    (name, code) => deaths.push(`${name} ended with ${code}`),
  );
  await server.startProcess();
  const address = {
    urls: [`http://127.0.0.1:${port}`],
    managementUrls: [`http://127.0.0.1:${managementPort}`],
    operator: { ...ENVIRONMENT_VARIABLES_WITH_PATH, DATA_DIR },
    objectStore: { folder: join(DATA_DIR, 'objects') },
  };
  return {
    ...createSystemUnderTest(address),
    address,
    processes: [server],
    deaths,
    stop: async () => {
      await server.stopProcess();
      await folder.remove();
    },
  };
}

const { EVENTSTOREDB_URL, EVENTSTOREDB_START, MONGODB_URL, MONGODB_START } = process.env;
/** Reason why the tests cannot kill the event store; undefined if they can. */
export const EVENT_STORE_NOT_KILLABLE_REASON =
  EVENTSTOREDB_URL !== undefined && EVENTSTOREDB_START === undefined
    ? 'EVENTSTOREDB_START is not set: it must name the command that starts the node of EVENTSTOREDB_URL'
    : undefined;

/** Reason why the tests cannot kill the document store; undefined if they can. */
export const DOCUMENT_STORE_NOT_KILLABLE_REASON =
  MONGODB_URL !== undefined && MONGODB_START === undefined
    ? 'MONGODB_START is not set: it must name the command that starts the server of MONGODB_URL'
    : undefined;
/** Returns the options for a MongoDB server outside of the folder of engines, with a database of its own. */
export function createExternalMongoServerOptions() {
  if (MONGODB_URL === undefined) return {};
  return { mongoUrl: replaceDatabaseInMongoUrl(MONGODB_URL, `test-${randomUUID()}`), mongoStart: MONGODB_START };
}

export const TEST_ENGINES_DIR = resolve(REPOSITORY_ROOT, process.env['ENGINES_DIR'] ?? '../shared/engines');
/** Reason why the distributed system cannot start on this machine; undefined if it can. */
export const NO_ENGINES_REASON = explainWhyEnginesCannotStart();

function explainWhyEnginesCannotStart(): string | undefined {
  if (!existsSync(TEST_ENGINES_DIR)) return `the folder ${TEST_ENGINES_DIR} has no engines; set ENGINES_DIR`;
  return spawnSync('java', ['-version']).error && 'the engines require Java on the PATH';
}

/** Two replicas of each service and their engines. */
export interface StartedDistributedTestSystem extends StartedSystem {
  readonly system: DistributedSystem;
  /** Folder of the logs, which is removed when the services stop. */
  readonly folder: string;
}

/** @param options options that replace those of the environment, such as addresses of engines that already run */
export async function startServices(
  settings: Readonly<Record<string, string>>,
  options: Partial<DistributedSystemOptions> = {},
): Promise<StartedDistributedTestSystem> {
  // If E2E_LOGS is set, the logs are kept after the run.
  const kept = process.env['E2E_LOGS'];
  const folder = kept === undefined ? await createTempFolder() : undefined;
  const path = folder?.path ?? resolve(kept ?? '', String(process.pid));
  await mkdir(path, { recursive: true });
  const deaths: string[] = [];
  const system = await DistributedSystem.startSystem({
    folder: path,
    enginesDir: TEST_ENGINES_DIR,
    eventStoreDbUrl: EVENTSTOREDB_URL,
    eventStoreDbStart: EVENTSTOREDB_START,
    ...createExternalMongoServerOptions(),
    replicas: 2,
    env: { ...SETTINGS_ALLOWING_LOCAL_RECEIVERS, ...settings },
    ...options,
    onUnexpectedExit: (name, code) => deaths.push(`${name} ended with ${code}`),
  });
  const { url, token } = system.administration;
  const address = {
    urls: system.urls,
    managementUrls: SERVICE_NAMES.flatMap((service) =>
      system.services[service].map(({ managementUrl }) => managementUrl),
    ),
    operator: { ...ENVIRONMENT_VARIABLES_WITH_PATH, ADMINISTRATION_URL: url, ADMINISTRATION_TOKEN: token },
    kafkaBrokers: system.engines.kafkaBrokers,
    objectStore: { mongoUrl: system.engines.mongoUrl },
  };
  return {
    ...createSystemUnderTest(address),
    address,
    system,
    deaths,
    folder: path,
    processes: SERVICE_NAMES.flatMap((service) => system.services[service].map((replica) => replica.process)),
    stop: async () => {
      await system.stopSystem();
      await folder?.remove();
    },
  };
}

/** Lists the object ids of all chunks, so that a chunk without its file is found. */
async function listObjectIds(mongoUrl: string): Promise<readonly string[]> {
  const mongo = await MongoClient.connect(mongoUrl);
  try {
    const chunks = mongo.db().collection('objects.chunks');
    return (await chunks.distinct('files_id')).map(String);
  } finally {
    await mongo.close();
  }
}

/** Returns the value of a replica's metric, summed over all labels. */
export async function readMetricTotal({ managementUrl }: ServiceReplica, metric: string): Promise<number> {
  const { data } = await axios.get<string>(`${managementUrl}/metrics`, { proxy: false, timeout: 5_000 });
  const lines = data.split('\n').filter((line) => line.startsWith(metric));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** Runs the command line. Returns its output. @throws Error if the command fails */
export function runCli(subject: SystemUnderTest, ...args: string[]): Promise<string> {
  return runCliWithInput(subject, '', ...args);
}

/** Runs the command line with a text as its standard input. Returns its standard output. */
export async function runCliWithInput(
  { operator }: SystemUnderTest,
  input: string,
  ...args: string[]
): Promise<string> {
  const running = promisify(execFile)(process.execPath, [join(REPOSITORY_ROOT, 'apps/cli/dist/main.js'), ...args], {
    cwd: REPOSITORY_ROOT,
    env: operator,
    maxBuffer: 64 * 2 ** 20,
  });
  // A command that does not read its input may have closed it.
  running.child.stdin?.on('error', () => undefined).end(input);
  return (await running).stdout.trim();
}

/** Runs the command line with `--json`. Returns the parsed output. */
export async function runCliJson<T>(subject: SystemUnderTest, ...args: string[]): Promise<T> {
  return JSON.parse(await runCli(subject, ...args, '--json')) as T;
}
