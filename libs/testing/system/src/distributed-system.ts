import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ManagedProcess } from '@tracking/testing';
import {
  startDatabaseAndBrokerProcesses,
  type TestEngineAddressesAndProcesses,
  type EnginesOptions,
} from './engines.ts';
import { readOrCreatePort, readOrCreateSecret } from './persistent-values.ts';

const REPOSITORY_ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Node flags that the container and `npm start` use. */
export const NODE_FLAGS = ['--enable-source-maps', '--v8-pool-size=1'];

/** Id of the release of processes that use the build of this repository after an upgrade. Others have no release. */
const UPGRADED_RELEASE_ID = 'upgraded';

export const SERVICE_NAMES = ['shipments', 'projections', 'webhooks', 'gateway'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

export interface DistributedSystemOptions extends EnginesOptions {
  /** Number of replicas of each service; 1 by default. */
  readonly replicas?: number;
  /** Number of replicas of each service that start with the system; all by default. */
  readonly startedReplicas?: number;
  /** Settings of all services, as environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Port of the first gateway; by default, the same port at each start. */
  readonly port?: number;
  readonly report?: (line: string) => void;
  /** Folder of the repository whose build the services use, with a slash at the end; this repository by default. */
  readonly buildRoot?: string;
}

/** One replica of a service. */
export interface ServiceReplica {
  readonly process: ManagedProcess;
  readonly managementUrl: string;
  /** Base URL of the API; only for gateways. */
  readonly url: string | undefined;
  /** Stops the replica, and starts it with the build of this repository. */
  upgradeReplica(): Promise<void>;
}

/** The wait of a service for its turn in an upgrade. */
interface UpgradeTurnWait {
  readonly exitCode: Promise<number | null>;
  hasEnded(): boolean;
}

interface ProgramsRunBeforeServiceUpgrade {
  runSetup(): Promise<void>;
  /** Starts to wait until the first replica of a service may be upgraded. Resolves when the process waits. */
  startTurn(service: ServiceName): Promise<UpgradeTurnWait>;
}

/** Process of an app of the distributed system. */
interface AppProcessStartSettings {
  readonly name: string;
  /** Folder of the app. */
  readonly app: string;
  /** Arguments of the app; none by default. */
  readonly args?: readonly string[];
  /** Environment variables in addition to the common ones. */
  readonly env?: Readonly<Record<string, string>>;
  /** Pattern of the line that the process prints when it is ready or has completed its work. */
  readonly ready: RegExp;
  readonly stopped?: RegExp;
}

/** Pattern of the last line that a service logs. */
const STOPPED_LOG_PATTERN = /"msg":"stopped"/;

/**
 * Engines and built services on this machine. Each replica is a process with loopback ports that stay the same after
 * restarts.
 */
export class DistributedSystem {
  private constructor(
    readonly engines: TestEngineAddressesAndProcesses,
    readonly services: Readonly<Record<ServiceName, readonly ServiceReplica[]>>,
    /** Address and token for the command line. */
    readonly administration: { readonly url: string; readonly token: string },
    /** Programs of this repository that run before an upgrade of the services. */
    readonly upgrade: ProgramsRunBeforeServiceUpgrade,
  ) {}

  static async startSystem(options: DistributedSystemOptions): Promise<DistributedSystem> {
    const { folder, replicas = 1, report = () => undefined, onUnexpectedExit } = options;
    await mkdir(folder, { recursive: true });
    const engines = await startDatabaseAndBrokerProcesses(options);
    report('all engines are ready');
    const addresses = await assignServiceAddresses(folder, replicas, options.port);
    const channel = (service: 'shipments' | 'webhooks') =>
      `ipv4:${addresses[service].map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
    const administrationToken = readOrCreateSecret(folder, 'administration.token', 'hex');
    // All replicas create links with the same base URL.
    const publicUrl = `http://127.0.0.1:${addresses.gateway[0]?.port}`;
    const common = {
      BASE_URL: publicUrl,
      APP_URL: publicUrl,
      EVENTSTOREDB_URL: engines.eventStoreDbUrl,
      KAFKA_BROKERS: engines.kafkaBrokers,
      MONGODB_URL: engines.mongoUrl,
      SHIPMENTS_URL: channel('shipments'),
      WEBHOOKS_URL: channel('webhooks'),
      SERVICES_TOKEN: readOrCreateSecret(folder, 'services.token', 'hex'),
      ADMINISTRATION_TOKEN: administrationToken,
      // The key is stored, because the next start must be able to read the secrets in the engines' data.
      SECRETS_KEY: readOrCreateSecret(folder, 'secrets.key', 'base64'),
      ...options.env,
    };
    const { buildRoot = REPOSITORY_ROOT } = options;
    /** Names of the processes whose next start uses the build of this repository. */
    const upgraded = new Set<string>();
    const managed = ({ name, app, args = [], env, ...how }: AppProcessStartSettings, onExit = onUnexpectedExit) =>
      new ManagedProcess(
        {
          name,
          command: process.execPath,
          args: () => {
            const root = upgraded.has(name) ? REPOSITORY_ROOT : buildRoot;
            return [...NODE_FLAGS, `${root}apps/${app}/dist/main.js`, ...args];
          },
          env: () => ({ ...common, ...env, ...(upgraded.has(name) && { RELEASE: UPGRADED_RELEASE_ID }) }),
          ...how,
          logFile: join(folder, `${name}.log`),
          detached: true,
        },
        onExit,
      );
    // The set-up process ends when it has completed its work.
    const setup = managed({ name: 'setup', app: 'setup', ready: /"msg":"set-up is complete"/ }, () => undefined);
    const services = Object.fromEntries(
      SERVICE_NAMES.map((service) => [
        service,
        addresses[service].map(({ port, managementPort }, index): ServiceReplica => {
          const env = { PORT: String(port), MANAGEMENT_PORT: String(managementPort) };
          const name = `${service}-${index + 1}`;
          const replica = managed({ name, app: service, env, ready: /"msg":"ready"/, stopped: STOPPED_LOG_PATTERN });
          return {
            process: replica,
            upgradeReplica: async () => {
              upgraded.add(name);
              await replica.stopProcess();
              await replica.startProcess();
            },
            managementUrl: `http://127.0.0.1:${managementPort}`,
            url: service === 'gateway' ? `http://127.0.0.1:${port}` : undefined,
          };
        }),
      ]),
    ) as unknown as Record<ServiceName, readonly ServiceReplica[]>;
    const [gateway] = services.gateway;
    const administration = { url: gateway?.managementUrl ?? '', token: administrationToken };
    const runSetup = async () => {
      upgraded.add(setup.spec.name);
      await setup.startProcess();
      await setup.waitForExit();
    };
    const startTurn = async (service: ServiceName): Promise<UpgradeTurnWait> => {
      const name = `${service}-turn`;
      upgraded.add(name);
      const { promise: exitCode, resolve } = Promise.withResolvers<number | null>();
      let hasEnded = false;
      const ready = /waits for its turn in the update/;
      const turn = managed({ name, app: 'setup', args: ['wait', service], ready }, (_, code) => {
        hasEnded = true;
        resolve(code);
      });
      await turn.startProcess();
      return { exitCode, hasEnded: () => hasEnded };
    };
    const system = new DistributedSystem(engines, services, administration, { runSetup, startTurn });
    try {
      await setup.startProcess();
      report('all topics and collections are ready');
      await system.startServices(options.startedReplicas);
      return system;
    } catch (error) {
      await system.stopSystem();
      throw error;
    }
  }

  /** Starts all stopped processes again. */
  async restartStoppedProcesses(): Promise<void> {
    await this.startDatabaseAndBrokerProcesses();
    await this.startServices();
  }

  /** Base URLs of the API on all gateways. */
  get urls(): readonly string[] {
    return this.services.gateway.flatMap(({ url }) => url ?? []);
  }

  /** Engines that this system started itself. */
  private get startedEngines(): readonly ManagedProcess[] {
    const { eventStoreDb, kafka, mongo } = this.engines;
    return [eventStoreDb, kafka, mongo].flatMap((engine) => engine ?? []);
  }

  async startDatabaseAndBrokerProcesses(): Promise<void> {
    await Promise.all(this.startedEngines.map((engine) => engine.startProcess()));
  }

  /**
   * Starts all services. Resolves when they are ready. Services wait for unavailable engines.
   * @param replicas number of replicas of each service to start; all by default
   */
  async startServices(replicas?: number): Promise<void> {
    const started = SERVICE_NAMES.flatMap((service) => this.services[service].slice(0, replicas));
    await Promise.all(started.map(({ process: one }) => one.startProcess()));
  }

  /**
   * Stops the services first, then the engines. @throws Error if a service had to be killed; all processes have ended
   * by then
   */
  async stopSystem(): Promise<void> {
    const groups = [...SERVICE_NAMES].reverse().map((service) => this.services[service].map(({ process: one }) => one));
    const failures: unknown[] = [];
    for (const group of [...groups, this.startedEngines]) {
      const ended = await Promise.allSettled(group.map((one) => one.stopProcess()));
      failures.push(...ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])));
    }
    if (failures.length > 0) throw failures[0];
  }
}

async function assignServiceAddresses(folder: string, replicas: number, firstGateway: number | undefined) {
  const some = (service: ServiceName, first?: number) =>
    Promise.all(
      Array.from({ length: replicas }, async (_, index) => {
        const name = `${service}-${index + 1}`;
        return {
          port: first === undefined ? await readOrCreatePort(folder, name) : first + index,
          managementPort: await readOrCreatePort(folder, `${name} management`),
        };
      }),
    );
  return {
    shipments: await some('shipments'),
    projections: await some('projections'),
    webhooks: await some('webhooks'),
    gateway: await some('gateway', firstGateway),
  };
}
