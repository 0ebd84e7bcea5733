import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ManagedProcess } from '@tracking/testing';
import { startEngines, type Engines, type EnginesOptions } from './engines.ts';
import { keptPort, keptSecret } from './kept.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** As the container and `npm start` give them. */
export const NODE_FLAGS = ['--enable-source-maps', '--v8-pool-size=1'];

export const SERVICES = ['shipments', 'projections', 'webhooks', 'gateway'] as const;
export type ServiceName = (typeof SERVICES)[number];

interface DistributedSystemOptions extends EnginesOptions {
  /** Replicas of each service; 1 by default. */
  readonly replicas?: number;
  /** Settings of all services, by environment variable. */
  readonly env?: Readonly<Record<string, string>>;
  /** Port of the first gateway; by default one that it keeps. */
  readonly port?: number;
  readonly say?: (line: string) => void;
}

/** One replica. */
export interface Replica {
  readonly process: ManagedProcess;
  readonly managementUrl: string;
  /** Base URL of a gateway's API. */
  readonly url: string | undefined;
}

/** How one of our apps is started as a process. */
interface AppProcess {
  readonly name: string;
  /** Its folder. */
  readonly app: string;
  /** Beside what all get. */
  readonly env?: Readonly<Record<string, string>>;
  /** The line that it prints when it is ready, or has done its work. */
  readonly ready: RegExp;
  readonly stopped?: RegExp;
}

/** The last line of a service. */
const STOPPED = /"msg":"stopped"/;

/** Engines and services, built, each replica a process of its own on loopback ports that it keeps over restarts. */
export class DistributedSystem {
  private constructor(
    readonly engines: Engines,
    readonly services: Readonly<Record<ServiceName, readonly Replica[]>>,
    /** Address and token for the command line. */
    readonly administration: { readonly url: string; readonly token: string },
  ) {}

  static async start(options: DistributedSystemOptions): Promise<DistributedSystem> {
    const { folder, replicas = 1, say = () => undefined, died } = options;
    await mkdir(folder, { recursive: true });
    const engines = await startEngines(options);
    say('engines are ready');
    const addresses = await addressesOf(folder, replicas, options.port);
    const channel = (service: 'shipments' | 'webhooks') =>
      `ipv4:${addresses[service].map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
    const administrationToken = keptSecret(folder, 'administration.token', 'hex');
    // Links are the same whichever replica makes them.
    const publicUrl = `http://127.0.0.1:${addresses.gateway[0]?.port}`;
    const common = {
      BASE_URL: publicUrl,
      APP_URL: publicUrl,
      EVENTSTOREDB_URL: engines.eventStoreDbUrl,
      KAFKA_BROKERS: engines.kafkaBrokers,
      MONGODB_URL: engines.mongoUrl,
      SHIPMENTS_URL: channel('shipments'),
      WEBHOOKS_URL: channel('webhooks'),
      SERVICES_TOKEN: keptSecret(folder, 'services.token', 'hex'),
      ADMINISTRATION_TOKEN: administrationToken,
      // The next run must read the secrets that engines with kept data hold.
      SECRETS_KEY: keptSecret(folder, 'secrets.key', 'base64'),
      ...options.env,
    };
    const managed = ({ name, app, env, ...how }: AppProcess, told = died) =>
      new ManagedProcess(
        {
          name,
          command: process.execPath,
          args: [...NODE_FLAGS, `${root}apps/${app}/dist/main.js`],
          env: { ...common, ...env },
          ...how,
          logFile: join(folder, `${name}.log`),
          detached: true,
        },
        told,
      );
    // Ends by itself when it is done.
    const setup = managed({ name: 'setup', app: 'setup', ready: /"msg":"set-up is complete"/ }, () => undefined);
    const services = Object.fromEntries(
      SERVICES.map((service) => [
        service,
        addresses[service].map(({ port, managementPort }, index): Replica => {
          const env = { PORT: String(port), MANAGEMENT_PORT: String(managementPort) };
          return {
            process: managed({
              name: `${service}-${index + 1}`,
              app: service,
              env,
              ready: /"msg":"ready"/,
              stopped: STOPPED,
            }),
            managementUrl: `http://127.0.0.1:${managementPort}`,
            url: service === 'gateway' ? `http://127.0.0.1:${port}` : undefined,
          };
        }),
      ]),
    ) as unknown as Record<ServiceName, readonly Replica[]>;
    const [gateway] = services.gateway;
    const administration = { url: gateway?.managementUrl ?? '', token: administrationToken };
    const system = new DistributedSystem(engines, services, administration);
    try {
      await setup.run();
      say('topics and collections are ready');
      await system.startServices();
      return system;
    } catch (error) {
      await system.stop();
      throw error;
    }
  }

  /** Starts everything again that was stopped. */
  async startAgain(): Promise<void> {
    await this.startEngines();
    await this.startServices();
  }

  /** Addresses of the gateways' API. */
  get urls(): readonly string[] {
    return this.services.gateway.flatMap(({ url }) => url ?? []);
  }

  /** Engines that were started here. */
  private get ownEngines(): readonly ManagedProcess[] {
    const { eventStoreDb, kafka, mongo } = this.engines;
    return [eventStoreDb, kafka, mongo].flatMap((engine) => engine ?? []);
  }

  async startEngines(): Promise<void> {
    await Promise.all(this.ownEngines.map((engine) => engine.run()));
  }

  /** Resolves when all are ready; they wait for engines that are not there. */
  async startServices(): Promise<void> {
    await Promise.all(SERVICES.flatMap((service) => this.services[service].map(({ process: one }) => one.run())));
  }

  /** Services first, then the engines. @throws Error where a service did not stop by itself; all have ended then */
  async stop(): Promise<void> {
    const groups = [...SERVICES].reverse().map((service) => this.services[service].map(({ process: one }) => one));
    const failures: unknown[] = [];
    for (const group of [...groups, this.ownEngines]) {
      const ended = await Promise.allSettled(group.map((one) => one.stop()));
      failures.push(...ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])));
    }
    if (failures.length > 0) throw failures[0];
  }
}

async function addressesOf(folder: string, replicas: number, firstGateway: number | undefined) {
  const some = (service: ServiceName, first?: number) =>
    Promise.all(
      Array.from({ length: replicas }, async (_, index) => {
        const name = `${service}-${index + 1}`;
        return {
          port: first === undefined ? await keptPort(folder, name) : first + index,
          managementPort: await keptPort(folder, `${name} management`),
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
