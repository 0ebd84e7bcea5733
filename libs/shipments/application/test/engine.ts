import type { EmbeddedSqliteEngine } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import type { AppendResult, EventStore, ExpectedRevision, Logger, NewEvent } from '@tracking/ports';
import { RecordedMetrics, silentLogger, createTempFolder } from '@tracking/testing';
import type { TempFolder } from '@tracking/testing';
import { EventSourcedShipmentService, type ShipmentServiceLimits } from '../src/shipments.ts';
import { EMPTY_PLACE_LOOKUP, DEFAULT_RULE_SETTINGS_READER } from './builders.ts';

/** An embedded engine in its own folder. */
export class TestEngine {
  private constructor(
    private readonly folder: TempFolder,
    private engine: EmbeddedSqliteEngine,
  ) {}

  static async openTestEngine(): Promise<TestEngine> {
    const folder = await createTempFolder();
    return new TestEngine(folder, await openEngineIn(folder));
  }

  get store(): EventStore {
    return this.engine.eventStore;
  }

  /** Closes and reopens the engine, as a restart does. Only the folder is kept. */
  async reopenEngine(): Promise<void> {
    await this.engine.closeEngine();
    this.engine = await openEngineIn(this.folder);
  }

  async closeTestEngine(): Promise<void> {
    await this.engine.closeEngine();
    await this.folder.remove();
  }
}

function openEngineIn({ path }: TempFolder): Promise<EmbeddedSqliteEngine> {
  return openTestEngine(path);
}

/** Timeouts for slow test machines. They are longer than the timeouts of clients. */
const TIMEOUTS_FOR_SLOW_MACHINES = { deadlineMs: 60_000, silenceMs: 120_000 };

/** Returns a replica: a shipments service with its own cache and queues. */
export function createShipmentsReplica(
  eventStore: EventStore,
  limits: Partial<ShipmentServiceLimits> = {},
  metrics = new RecordedMetrics(),
  logger: Logger = silentLogger,
) {
  return new EventSourcedShipmentService({
    eventStore,
    places: EMPTY_PLACE_LOOKUP,
    settings: DEFAULT_RULE_SETTINGS_READER,
    logger,
    metrics,
    limits: { ...TIMEOUTS_FOR_SLOW_MACHINES, ...limits },
  });
}

type Append = () => Promise<AppendResult>;

/** An event store that lets the test intercept every append. */
export class InterceptedStore implements EventStore {
  /** Called instead of each append. The argument `append` executes the append. */
  intercept: (append: Append, stream: string, events: readonly NewEvent[]) => Promise<AppendResult> = (append) =>
    append();

  constructor(private readonly inner: EventStore) {}

  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult> {
    return this.intercept(() => this.inner.append(stream, expected, events), stream, events);
  }
  read: EventStore['read'] = (stream, range) => this.inner.read(stream, range);
  readLastRevision: EventStore['readLastRevision'] = (stream) => this.inner.readLastRevision(stream);
  catchUp: EventStore['catchUp'] = (options) => this.inner.catchUp(options);
  head: EventStore['head'] = () => this.inner.head();
  close: EventStore['close'] = () => this.inner.close();
}
