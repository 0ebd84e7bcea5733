import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  EventStoreDbStandIn,
  EventStoreDbNodeProcess,
  createEventStoreNodeProcessSpec,
  type StandInOptions,
} from '@tracking/eventstoredb-stand-in';
import { UnavailableError } from '@tracking/ports';
import { retry } from '@tracking/resilience';
import {
  createCertificateAuthority,
  issueCertificate,
  ManagedProcess,
  noMetrics,
  silentLogger,
  type TestedAdapter,
} from '@tracking/testing';
import {
  EventStoreDbEventStore,
  type EventStoreDbEventStoreOptions,
} from '../../src/eventstoredb/eventstoredb-event-store.ts';

const { EVENTSTOREDB_URL, EVENTSTOREDB_START } = process.env;

/** Name of the tested engine, for test titles. */
export const TESTED_ENGINE_NAME = EVENTSTOREDB_URL === undefined ? 'EventStoreDB’s stand-in' : 'EventStoreDB';
/** True if the tests can start and kill the node's process. */
export const IS_NODE_KILLABLE = EVENTSTOREDB_URL === undefined || EVENTSTOREDB_START !== undefined;
export const NOT_KILLABLE_REASON =
  'EVENTSTOREDB_START is not set: it must name the command that starts the node of EVENTSTOREDB_URL';
/** True if the node can simulate failures that a real process cannot produce. */
export const IS_STAND_IN_NODE = EVENTSTOREDB_URL === undefined;
export const STAND_IN_REQUIRED_REASON = 'the test needs the fault switches of the stand-in';

export function openEventStoreDbEventStore(
  url: string,
  options: Partial<EventStoreDbEventStoreOptions> = {},
): EventStoreDbEventStore {
  return new EventStoreDbEventStore({ url, logger: silentLogger, metrics: noMetrics, ...options });
}

/** Creates the node of `EVENTSTOREDB_URL` as a process, or a stand-in, without starting it. */
async function createEventStoreServerForTest(options: StandInOptions = {}): Promise<EventStoreDbNodeProcess> {
  if (EVENTSTOREDB_URL === undefined) return EventStoreDbStandIn.createEventStoreDbStandIn(options);
  if (EVENTSTOREDB_START === undefined) throw new Error(NOT_KILLABLE_REASON);
  const start = createEventStoreNodeProcessSpec({ url: EVENTSTOREDB_URL, command: EVENTSTOREDB_START });
  const logFile = join(tmpdir(), `eventstoredb-${process.pid}.log`);
  return new EventStoreDbNodeProcess(new ManagedProcess({ ...start, logFile }), EVENTSTOREDB_URL);
}

/** A running node and the stores that tests opened on it. */
export class EventStoreDbFixture {
  private readonly opened: EventStoreDbEventStore[] = [];

  private constructor(readonly node: EventStoreDbNodeProcess) {}

  /** @param options options of the stand-in */
  static async startNodeFixture(options: StandInOptions = {}): Promise<EventStoreDbFixture> {
    return EventStoreDbFixture.startFixtureOnNode(await createEventStoreServerForTest(options));
  }

  static async startFixtureOnNode(node: EventStoreDbNodeProcess): Promise<EventStoreDbFixture> {
    await node.startNode();
    return new EventStoreDbFixture(node);
  }

  /** @throws Error if the node is not a stand-in */
  get standIn(): EventStoreDbStandIn {
    if (this.node instanceof EventStoreDbStandIn) return this.node;
    throw new Error(STAND_IN_REQUIRED_REASON);
  }

  openEventStore(options: Partial<EventStoreDbEventStoreOptions> = {}): EventStoreDbEventStore {
    return this.openEventStoreWithConnectionString(this.node.url, options);
  }

  /** Opens a store with another connection string of the same node. */
  openEventStoreWithConnectionString(
    url: string,
    options: Partial<EventStoreDbEventStoreOptions> = {},
  ): EventStoreDbEventStore {
    const store = openEventStoreDbEventStore(url, options);
    this.opened.push(store);
    return store;
  }

  async killAndRestart(): Promise<void> {
    await this.node.killNode();
    await this.node.startNode();
  }

  async closeStores(): Promise<void> {
    this.node.resumeNode();
    await Promise.all(this.opened.splice(0).map((store) => store.close()));
  }

  async closeEventStore(): Promise<void> {
    await this.closeStores();
    await this.node.destroyTestNode();
  }
}

/** Options of a cluster of three nodes with TLS, whose certificates are signed by an authority of its own. */
export function createTlsClusterStandInOptions(): StandInOptions {
  const authority = createCertificateAuthority();
  return {
    nodes: 3,
    tls: { ...issueCertificate({ issuer: authority }), ca: authority.cert },
    users: { [SECURE_CLUSTER_USER_AND_PASSWORD.username]: SECURE_CLUSTER_USER_AND_PASSWORD.password },
  };
}

/** The user of secure clusters. The password has characters that a connection string must encode. */
export const SECURE_CLUSTER_USER_AND_PASSWORD = { username: 'tracking', password: 'open:sesame/@?&' };

/** Adds the user to a connection string. */
export function addUserToConnectionString(
  url: string,
  { username, password } = SECURE_CLUSTER_USER_AND_PASSWORD,
): string {
  return url.replace('://', `://${encodeURIComponent(username)}:${encodeURIComponent(password)}@`);
}

/**
 * Test subject: the adapter on a node that the tests can kill, or on the node at `EVENTSTOREDB_URL`.
 * @param standIn options of the stand-in
 */
export function createEventStoreDbSubject(
  standIn: StandInOptions = {},
): TestedAdapter<EventStoreDbEventStore> & { url(): string } {
  const opened: EventStoreDbEventStore[] = [];
  let node: EventStoreDbNodeProcess | undefined;

  const url = () => {
    const address = node?.url ?? EVENTSTOREDB_URL ?? '';
    return IS_STAND_IN_NODE && standIn.users !== undefined ? addUserToConnectionString(address) : address;
  };

  function openStoreOnTestNode(): Promise<EventStoreDbEventStore> {
    const store = openEventStoreDbEventStore(url());
    opened.push(store);
    return Promise.resolve(store);
  }

  const subject = {
    url,
    async openTestedAdapter() {
      if (IS_NODE_KILLABLE) {
        node = await createEventStoreServerForTest(standIn);
        await node.startNode();
      }
      return openStoreOnTestNode();
    },
    async closeAndReopenAdapter() {
      await opened.pop()?.close();
      return openStoreOnTestNode();
    },
    async close() {
      await Promise.all(opened.splice(0).map((store) => store.close()));
      await node?.destroyTestNode();
    },
  };
  if (!IS_NODE_KILLABLE) return subject;
  /** Kills the node; the test process keeps its open stores. */
  const crash = async () => {
    await node?.killNode();
    await node?.startNode();
    return openStoreOnTestNode();
  };
  return { ...subject, simulateCrash: crash };
}

/** Repeats the operation until the node responds. */
export function retryUntilAnswered<T>(
  operation: () => Promise<T>,
  onFailure: () => void = () => undefined,
): Promise<T> {
  return retry(operation, { maxPauseMs: 50, isTransient: (error) => error instanceof UnavailableError, onFailure });
}
