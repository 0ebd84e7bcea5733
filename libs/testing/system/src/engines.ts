import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ManagedProcess, createMongoServerSpec, type ProcessSpec } from '@tracking/testing';
import { createStandInStartCommand, createEventStoreNodeProcessSpec } from '@tracking/eventstoredb-stand-in';
import { readOrCreatePort } from './persistent-values.ts';

/** Addresses of the engines, and the processes of the engines that were started here. */
export interface TestEngineAddressesAndProcesses {
  readonly eventStoreDbUrl: string;
  readonly kafkaBrokers: string;
  readonly mongoUrl: string;
  /** Processes of the engines that were started here; undefined for an engine that was already running. */
  readonly eventStoreDb: ManagedProcess | undefined;
  readonly kafka: ManagedProcess | undefined;
  readonly mongo: ManagedProcess | undefined;
}

export interface EnginesOptions {
  /** Folder of the engines' data and logs. */
  readonly folder: string;
  /** Folder with the programs `kafka/start` and `mongo-java-server/start`. */
  readonly enginesDir: string | undefined;
  /** Address of an EventStoreDB node that already runs. */
  readonly eventStoreDbUrl?: string | undefined;
  /**
   * Command that starts the node of `eventStoreDbUrl` on its data in the foreground. If it is absent, the node must
   * already run.
   */
  readonly eventStoreDbStart?: string | undefined;
  /** Addresses of Kafka brokers that already run. */
  readonly kafkaBrokers?: string | undefined;
  /** Address of a MongoDB server. */
  readonly mongoUrl?: string | undefined;
  /**
   * Command that starts the server of `mongoUrl` on its data in the foreground. If it is absent, the server must
   * already run.
   */
  readonly mongoStart?: string | undefined;
  readonly onUnexpectedExit?: (name: string, code: number | null) => void;
}

/**
 * Starts every engine that has no address: the stand-in for EventStoreDB, and the programs in the folder of engines.
 */
export async function startDatabaseAndBrokerProcesses(
  options: EnginesOptions,
): Promise<TestEngineAddressesAndProcesses> {
  const { folder, eventStoreDbUrl, eventStoreDbStart, kafkaBrokers, mongoUrl, mongoStart, onUnexpectedExit } = options;
  const started: ManagedProcess[] = [];
  const start = async (isGiven: boolean, spec: (port: number, dataDir: string) => Omit<ProcessSpec, 'logFile'>) => {
    if (isGiven) return undefined;
    const { name } = spec(0, '');
    const port = await readOrCreatePort(folder, name);
    const dataDir = join(folder, name);
    await mkdir(dataDir, { recursive: true });
    const logFile = join(folder, `${name}.log`);
    const engine = new ManagedProcess({ ...spec(port, dataDir), logFile, detached: true }, onUnexpectedExit);
    started.push(engine);
    await engine.startProcess();
    return { engine, port };
  };
  const starting = [
    start(eventStoreDbUrl !== undefined && eventStoreDbStart === undefined, (port, dataDir) =>
      eventStoreDbUrl !== undefined && eventStoreDbStart !== undefined
        ? createEventStoreNodeProcessSpec({ url: eventStoreDbUrl, command: eventStoreDbStart })
        : { name: 'eventstoredb-stand-in', ...createStandInStartCommand({ folder: dataDir, ports: [port] }) },
    ),
    start(kafkaBrokers !== undefined, (port, dataDir) => ({
      name: 'kafka',
      command: findEngineStartProgram(options.enginesDir, 'kafka'),
      args: [dataDir, String(port)],
      ready: /Kafka Server started/,
    })),
    start(mongoUrl !== undefined && mongoStart === undefined, (port, dataDir) =>
      mongoUrl !== undefined && mongoStart !== undefined
        ? createMongoServerSpec({ url: mongoUrl, command: mongoStart })
        : {
            name: 'mongodb',
            command: findEngineStartProgram(options.enginesDir, 'mongo-java-server'),
            args: [dataDir, String(port)],
            ready: /ready on/,
          },
    ),
  ] as const;
  const [eventStoreDb, kafka, mongo] = await Promise.all(starting).catch(async (error: unknown) => {
    await Promise.allSettled(starting);
    await Promise.all(started.map((engine) => engine.killProcess()));
    throw error;
  });
  return {
    eventStoreDbUrl: eventStoreDbUrl ?? `esdb://127.0.0.1:${eventStoreDb?.port}?tls=false`,
    kafkaBrokers: kafkaBrokers ?? `127.0.0.1:${kafka?.port}`,
    mongoUrl: mongoUrl ?? `mongodb://127.0.0.1:${mongo?.port}/tracking`,
    eventStoreDb: eventStoreDb?.engine,
    kafka: kafka?.engine,
    mongo: mongo?.engine,
  };
}

function findEngineStartProgram(enginesDir: string | undefined, engine: string): string {
  const path = enginesDir === undefined ? undefined : join(enginesDir, engine, 'start');
  if (path !== undefined && existsSync(path)) return path;
  throw new Error(`${engine}: set its address, or ENGINES_DIR to a folder with a program that starts it`);
}
