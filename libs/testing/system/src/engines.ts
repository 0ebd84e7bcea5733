import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ManagedProcess, type ProcessSpec } from '@tracking/testing';
import { standInCommand, startedNode } from '@tracking/eventstoredb-stand-in';
import { keptPort } from './kept.ts';

/** Where the engines are: some started here, others that run already. */
export interface Engines {
  readonly eventStoreDbUrl: string;
  readonly kafkaBrokers: string;
  readonly mongoUrl: string;
  /** Engines that were started here; undefined for one that runs already. */
  readonly eventStoreDb: ManagedProcess | undefined;
  readonly kafka: ManagedProcess | undefined;
  readonly mongo: ManagedProcess | undefined;
}

export interface EnginesOptions {
  /** Keeps their data and logs. */
  readonly folder: string;
  /** Holds `kafka/start` and `mongo-java-server/start`. */
  readonly enginesDir: string | undefined;
  /** Addresses of engines that run already. */
  readonly eventStoreDbUrl?: string | undefined;
  /** Starts the node of `eventStoreDbUrl` on its data, in the foreground; without it that node runs already. */
  readonly eventStoreDbStart?: string | undefined;
  readonly kafkaBrokers?: string | undefined;
  readonly mongoUrl?: string | undefined;
  readonly died?: (name: string, code: number | null) => void;
}

/** Starts the engines that no address is given for: EventStoreDB's stand-in, and what the folder of engines holds. */
export async function startEngines(options: EnginesOptions): Promise<Engines> {
  const { folder, eventStoreDbUrl, eventStoreDbStart, kafkaBrokers, mongoUrl, died } = options;
  const started: ManagedProcess[] = [];
  const start = async (isGiven: boolean, spec: (port: number, dataDir: string) => Omit<ProcessSpec, 'logFile'>) => {
    if (isGiven) return undefined;
    const { name } = spec(0, '');
    const port = await keptPort(folder, name);
    const dataDir = join(folder, name);
    await mkdir(dataDir, { recursive: true });
    const logFile = join(folder, `${name}.log`);
    const engine = new ManagedProcess({ ...spec(port, dataDir), logFile, detached: true }, died);
    started.push(engine);
    await engine.run();
    return { engine, port };
  };
  const starting = [
    start(eventStoreDbUrl !== undefined && eventStoreDbStart === undefined, (port, dataDir) =>
      eventStoreDbUrl !== undefined && eventStoreDbStart !== undefined
        ? startedNode({ url: eventStoreDbUrl, command: eventStoreDbStart })
        : { name: 'eventstoredb-stand-in', ...standInCommand({ folder: dataDir, port }) },
    ),
    start(kafkaBrokers !== undefined, (port, dataDir) => ({
      name: 'kafka',
      command: program(options.enginesDir, 'kafka'),
      args: [dataDir, String(port)],
      ready: /Kafka Server started/,
    })),
    start(mongoUrl !== undefined, (port, dataDir) => ({
      name: 'mongodb',
      command: program(options.enginesDir, 'mongo-java-server'),
      args: [dataDir, String(port)],
      ready: /ready on/,
    })),
  ] as const;
  const [eventStoreDb, kafka, mongo] = await Promise.all(starting).catch(async (error: unknown) => {
    await Promise.allSettled(starting);
    await Promise.all(started.map((engine) => engine.kill()));
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

function program(enginesDir: string | undefined, engine: string): string {
  const path = enginesDir === undefined ? undefined : join(enginesDir, engine, 'start');
  if (path !== undefined && existsSync(path)) return path;
  throw new Error(`${engine}: no address is given, and ENGINES_DIR holds no program to start`);
}
