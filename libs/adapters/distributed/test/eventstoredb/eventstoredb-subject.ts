import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  EventStoreDbStandIn,
  NodeProcess,
  nodeProcessSpec,
  type StandInOptions,
} from '@tracking/eventstoredb-stand-in';
import { Unavailable } from '@tracking/ports';
import { retry } from '@tracking/resilience';
import { ManagedProcess, noMetrics, silentLogger, type AdapterSubject } from '@tracking/testing';
import {
  EventStoreDbEventStore,
  type EventStoreDbEventStoreOptions,
} from '../../src/eventstoredb/eventstoredb-event-store.ts';

const { EVENTSTOREDB_URL, EVENTSTOREDB_START } = process.env;

/** Name of the tested engine, for test titles. */
export const NODE_NAME = EVENTSTOREDB_URL === undefined ? 'EventStoreDB’s stand-in' : 'EventStoreDB';
/** True if the tests can start and kill the node's process. */
export const IS_KILLABLE = EVENTSTOREDB_URL === undefined || EVENTSTOREDB_START !== undefined;
export const NOT_KILLABLE_REASON =
  'EVENTSTOREDB_START is not set: it must name the command that starts the node of EVENTSTOREDB_URL';
/** True if the node can simulate failures that a real process cannot produce. */
export const IS_STAND_IN = EVENTSTOREDB_URL === undefined;
export const NO_STAND_IN_REASON = 'the test needs the fault switches of the stand-in';

export function openStore(url: string, options: Partial<EventStoreDbEventStoreOptions> = {}): EventStoreDbEventStore {
  return new EventStoreDbEventStore({ url, logger: silentLogger, metrics: noMetrics, ...options });
}

/** Creates the node of `EVENTSTOREDB_URL` as a process, or a stand-in, without starting it. */
async function createNode(options: StandInOptions = {}): Promise<NodeProcess> {
  if (EVENTSTOREDB_URL === undefined) return EventStoreDbStandIn.create(options);
  if (EVENTSTOREDB_START === undefined) throw new Error(NOT_KILLABLE_REASON);
  const start = nodeProcessSpec({ url: EVENTSTOREDB_URL, command: EVENTSTOREDB_START });
  const logFile = join(tmpdir(), `eventstoredb-${process.pid}.log`);
  return new NodeProcess(new ManagedProcess({ ...start, logFile }), EVENTSTOREDB_URL);
}

/** A running node and the stores that tests opened on it. */
export class EventStoreDbFixture {
  private readonly opened: EventStoreDbEventStore[] = [];

  private constructor(readonly node: NodeProcess) {}

  /** @param options options of the stand-in */
  static async start(options: StandInOptions = {}): Promise<EventStoreDbFixture> {
    return EventStoreDbFixture.startOn(await createNode(options));
  }

  static async startOn(node: NodeProcess): Promise<EventStoreDbFixture> {
    await node.start();
    return new EventStoreDbFixture(node);
  }

  /** @throws Error if the node is not a stand-in */
  get standIn(): EventStoreDbStandIn {
    if (this.node instanceof EventStoreDbStandIn) return this.node;
    throw new Error(NO_STAND_IN_REASON);
  }

  open(options: Partial<EventStoreDbEventStoreOptions> = {}): EventStoreDbEventStore {
    const store = openStore(this.node.url, options);
    this.opened.push(store);
    return store;
  }

  async killAndRestart(): Promise<void> {
    await this.node.kill();
    await this.node.start();
  }

  async closeStores(): Promise<void> {
    this.node.resume();
    await Promise.all(this.opened.splice(0).map((store) => store.close()));
  }

  async close(): Promise<void> {
    await this.closeStores();
    await this.node.remove();
  }
}

/** Test subject: the adapter on a node that the tests can kill, or on the node at `EVENTSTOREDB_URL`. */
export function createEventStoreDbSubject(): AdapterSubject<EventStoreDbEventStore> & { url(): string } {
  const opened: EventStoreDbEventStore[] = [];
  let node: NodeProcess | undefined;

  const url = () => node?.url ?? EVENTSTOREDB_URL ?? '';

  function reopenStore(): Promise<EventStoreDbEventStore> {
    const store = openStore(url());
    opened.push(store);
    return Promise.resolve(store);
  }

  const subject = {
    url,
    async open() {
      if (IS_KILLABLE) {
        node = await createNode();
        await node.start();
      }
      return reopenStore();
    },
    async reopen() {
      await opened.pop()?.close();
      return reopenStore();
    },
    async close() {
      await Promise.all(opened.splice(0).map((store) => store.close()));
      await node?.remove();
    },
  };
  if (!IS_KILLABLE) return subject;
  /** Kills the node; the test process keeps its open stores. */
  const crash = async () => {
    await node?.kill();
    await node?.start();
    return reopenStore();
  };
  return { ...subject, crash };
}

/** Repeats the operation until the node responds. */
export function retryUntilAnswered<T>(
  operation: () => Promise<T>,
  onFailure: () => void = () => undefined,
): Promise<T> {
  return retry(operation, { maxPauseMs: 50, isTransient: (error) => error instanceof Unavailable, onFailure });
}
