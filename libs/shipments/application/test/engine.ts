import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedEngine } from '@tracking/embedded';
import type { AppendResult, EventStore, ExpectedRevision, NewEvent } from '@tracking/ports';
import { Shipments, type ShipmentsLimits } from '../src/shipments.ts';
import { CountedMetrics, places, silent } from './builders.ts';

/** An embedded engine in a folder of its own. */
export class TestEngine {
  private constructor(
    private readonly dataDir: string,
    private engine: EmbeddedEngine,
  ) {}

  static async open(): Promise<TestEngine> {
    const dataDir = await mkdtemp(join(tmpdir(), 'shipments-'));
    return new TestEngine(dataDir, await openIn(dataDir));
  }

  get store(): EventStore {
    return this.engine.eventStore;
  }

  /** As after a restart: nothing is left but the folder. */
  async reopen(): Promise<void> {
    await this.engine.close();
    this.engine = await openIn(this.dataDir);
  }

  async close(): Promise<void> {
    await this.engine.close();
    await rm(this.dataDir, { recursive: true });
  }
}

function openIn(dataDir: string): Promise<EmbeddedEngine> {
  return EmbeddedEngine.open({ dataDir, logger: silent, metrics: new CountedMetrics() });
}

/** One replica: a service with a cache and queues of its own. */
export function replica(eventStore: EventStore, limits: Partial<ShipmentsLimits> = {}, metrics = new CountedMetrics()) {
  return new Shipments({ eventStore, places, logger: silent, metrics, limits });
}

type Append = () => Promise<AppendResult>;

/** An event store whose appends a test takes into its hands. */
export class InterceptedStore implements EventStore {
  /** Decides what becomes of an append; `append` carries it out. */
  intercept: (append: Append, stream: string, events: readonly NewEvent[]) => Promise<AppendResult> = (append) =>
    append();

  constructor(private readonly inner: EventStore) {}

  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult> {
    return this.intercept(() => this.inner.append(stream, expected, events), stream, events);
  }
  read: EventStore['read'] = (stream, range) => this.inner.read(stream, range);
  catchUp: EventStore['catchUp'] = (options) => this.inner.catchUp(options);
  head: EventStore['head'] = () => this.inner.head();
  close: EventStore['close'] = () => this.inner.close();
}
