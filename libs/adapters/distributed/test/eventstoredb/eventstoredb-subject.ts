import { setTimeout as pause } from 'node:timers/promises';
import { EventStoreDbStandIn, type StandInOptions } from '@tracking/eventstoredb-stand-in';
import { Unavailable } from '@tracking/ports';
import { noMetrics, silentLogger, type Subject } from '@tracking/testing';
import {
  EventStoreDbEventStore,
  type EventStoreDbEventStoreOptions,
} from '../../src/eventstoredb/eventstoredb-event-store.ts';

const { EVENTSTOREDB_URL } = process.env;

/** Which engine the tests run on, for their titles. */
export const NODE = EVENTSTOREDB_URL === undefined ? 'EventStoreDB’s stand-in' : 'EventStoreDB';

export function openStore(url: string, options: Partial<EventStoreDbEventStoreOptions> = {}): EventStoreDbEventStore {
  return new EventStoreDbEventStore({ url, logger: silentLogger, metrics: noMetrics, ...options });
}

/** The stand-in, running, with what tests have opened on it. */
export class Stage {
  private readonly opened: EventStoreDbEventStore[] = [];

  private constructor(readonly node: EventStoreDbStandIn) {}

  static async start(options: StandInOptions = {}): Promise<Stage> {
    const node = await EventStoreDbStandIn.create(options);
    await node.run();
    return new Stage(node);
  }

  open(options: Partial<EventStoreDbEventStoreOptions> = {}): EventStoreDbEventStore {
    const store = openStore(this.node.url, options);
    this.opened.push(store);
    return store;
  }

  async killAndRestart(): Promise<void> {
    await this.node.kill();
    await this.node.run();
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

/** The adapter on the node at `EVENTSTOREDB_URL`, else on a stand-in of its own, which can be killed. */
export function eventStoreDbSubject(): Subject<EventStoreDbEventStore> & { url(): string } {
  const opened: EventStoreDbEventStore[] = [];
  let node: EventStoreDbStandIn | undefined;

  const url = () => node?.url ?? EVENTSTOREDB_URL ?? '';

  function openAgain(): Promise<EventStoreDbEventStore> {
    const store = openStore(url());
    opened.push(store);
    return Promise.resolve(store);
  }

  const subject = {
    url,
    async open() {
      if (EVENTSTOREDB_URL === undefined) {
        node = await EventStoreDbStandIn.create();
        await node.run();
      }
      return openAgain();
    },
    async reopen() {
      await opened.pop()?.close();
      return openAgain();
    },
    another: openAgain,
    async close() {
      await Promise.all(opened.splice(0).map((store) => store.close()));
      await node?.remove();
    },
  };
  if (EVENTSTOREDB_URL !== undefined) return subject;
  /** The node dies; the process lives on, with all that it has open. */
  const crash = async () => {
    await node?.kill();
    await node?.run();
    return openAgain();
  };
  return { ...subject, crash };
}

/** Repeats it until the node answers. */
export async function untilAnswered<T>(operation: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await operation();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      await pause(20);
    }
  }
}
