import { randomUUID } from 'node:crypto';
import { type PublishedEvent, SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import { type EmbeddedSqliteEngine, InProcessLeases } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import type { EventStore, Leases, ReceivedBrokerMessage, StoredEvent } from '@tracking/ports';
import {
  type ShipmentState,
  SHIPMENT_STREAM_PREFIX,
  applyEventToState,
  toPublicEvent,
  upcastStoredShipmentEvent,
} from '@tracking/shipments-domain';
import { RecordedMetrics, type TempFolder, eventually, silentLogger, createTempFolder } from '@tracking/testing';
import {
  type ShipmentsService,
  ShipmentEventPublisher,
  type PublisherOptions,
  EventSourcedShipmentService,
} from '../src/index.ts';
import {
  createMilestoneCommand,
  EMPTY_PLACE_LOOKUP,
  DEFAULT_RULE_SETTINGS_READER,
  createUpsertCommand,
} from './builders.ts';
import { SimulatedKillableProcess } from './killable-process.ts';

export const SAMPLE_PUBLIC_URLS = { appUrl: 'https://app.example.com', baseUrl: 'https://api.example.com' };
const SHIPMENTS_TOPIC = SHIPMENT_EVENTS_TOPIC.name;

export interface RunningPublisherWithMetrics {
  readonly publisher: ShipmentEventPublisher;
  readonly metrics: RecordedMetrics;
}

/** The environment for tests of publishers: an engine in a folder, and a shipments service. */
export class PublishingTestHarness {
  shipments: ShipmentsService;
  private readonly running = new Map<ShipmentEventPublisher, SimulatedKillableProcess>();
  private incarnation = 1_000;

  private constructor(
    private readonly folder: TempFolder,
    private readonly partitions: number,
    private engine: EmbeddedSqliteEngine,
  ) {
    this.shipments = createShipmentsServiceForTest(engine.eventStore);
  }

  /** @param partitions number of partitions of the topic */
  static async openPublishingHarness(
    partitions: number = SHIPMENT_EVENTS_TOPIC.partitions,
  ): Promise<PublishingTestHarness> {
    const folder = await createTempFolder();
    return new PublishingTestHarness(folder, partitions, await openEngineInFolder(folder, partitions));
  }

  get eventStore(): EventStore {
    return this.engine.eventStore;
  }
  get documentStore() {
    return this.engine.documentStore;
  }
  get broker() {
    return this.engine.messageBroker;
  }

  /** Starts a publisher in a new process that replaces former processes. */
  startPublisher(
    options: Partial<PublisherOptions> = {},
    process = new SimulatedKillableProcess(),
  ): RunningPublisherWithMetrics {
    const metrics = new RecordedMetrics();
    const publisher = ShipmentEventPublisher.start({
      ...process.makeEnginesKillable({
        eventStore: this.eventStore,
        documentStore: this.documentStore,
        broker: this.broker,
      }),
      leases: this.createLeasesOfNextProcess(),
      clock: () => new Date(),
      logger: silentLogger,
      metrics,
      readModelsContain: () => Promise.resolve(true),
      addresses: SAMPLE_PUBLIC_URLS,
      ...options,
    });
    this.running.set(publisher, process);
    return { publisher, metrics };
  }

  /** Returns the leases of a new process that replaces former processes. */
  createLeasesOfNextProcess(): Leases {
    return new InProcessLeases((this.incarnation += 1));
  }

  /** Closes and reopens the engine, as a restart of the machine does. Only the folder is kept. */
  async reopenEngine(): Promise<void> {
    await this.stopAllPublishers();
    await this.engine.closeEngine();
    this.engine = await openEngineInFolder(this.folder, this.partitions);
    this.shipments = createShipmentsServiceForTest(this.engine.eventStore);
  }

  async closePublishingHarness(): Promise<void> {
    await this.stopAllPublishers();
    await this.engine.closeEngine();
    await this.folder.remove();
  }

  /** Creates a shipment and returns its id. */
  async createShipment(external_id: string = randomUUID(), fields: object = {}): Promise<string> {
    const written = await this.shipments.upsertShipment(createUpsertCommand({ external_id, mode: 'ocean', ...fields }));
    return written.answer.shipment.id;
  }

  async recordMilestone(shipmentId: string, fields: Parameters<typeof createMilestoneCommand>[1] = {}): Promise<void> {
    await this.shipments.recordMilestone(createMilestoneCommand(shipmentId, { location: randomUUID(), ...fields }));
  }

  /** Returns all stored events, in the order of the store. */
  async readStoredEvents(): Promise<readonly StoredEvent[]> {
    const all: StoredEvent[] = [];
    const { signal } = new AbortController();
    if ((await this.eventStore.head()) === undefined) return all;
    for await (const { events, caughtUp } of this.eventStore.catchUp({
      streamPrefixes: [SHIPMENT_STREAM_PREFIX],
      signal,
    })) {
      all.push(...events);
      if (caughtUp) break;
    }
    return all;
  }

  /** Returns the announcements of all stored events, in the order of the store. The domain folds the shipments. */
  async computeAnnouncementsOfStoredEvents(): Promise<readonly PublishedEvent[]> {
    const states = new Map<string, ShipmentState>();
    return (await this.readStoredEvents()).flatMap((stored) => {
      const event = upcastStoredShipmentEvent(stored);
      const state = applyEventToState(states.get(stored.stream), event);
      states.set(stored.stream, state);
      return toPublicEvent(stored.id, event, state, SAMPLE_PUBLIC_URLS) ?? [];
    });
  }

  /** Returns all messages of the topic. Each partition is in its order. */
  async readMessages(): Promise<readonly ReceivedBrokerMessage[]> {
    const received: ReceivedBrokerMessage[] = [];
    const group = randomUUID();
    const ending = new AbortController();
    const consumed = this.broker.consume({ topic: SHIPMENTS_TOPIC, group, signal: ending.signal }, (messages) => {
      received.push(...messages);
      return Promise.resolve();
    });
    await eventually(async () => expect(await this.broker.readConsumerLag(SHIPMENTS_TOPIC, group)).toBe(0));
    ending.abort();
    await consumed;
    return received;
  }

  /** Waits until all announcements are on the topic. Returns the messages of the topic. */
  async waitForPublishedAnnouncements(): Promise<readonly ReceivedBrokerMessage[]> {
    const expected = (await this.computeAnnouncementsOfStoredEvents()).map(({ id }) => id);
    return eventually(async () => {
      const messages = await this.readMessages();
      expect(messages.map(({ headers }) => headers['event-id'])).toEqual(expect.arrayContaining(expected));
      return messages;
    });
  }

  private async stopAllPublishers(): Promise<void> {
    const living = [...this.running].filter(([, { dead }]) => !dead);
    await Promise.all(living.map(([publisher]) => publisher.stop()));
    this.running.clear();
  }
}

function openEngineInFolder(folder: TempFolder, partitions: number): Promise<EmbeddedSqliteEngine> {
  return openTestEngine(folder.path, { metrics: new RecordedMetrics() }).then(async (engine) => {
    await engine.messageBroker.ensureTopics([{ ...SHIPMENT_EVENTS_TOPIC, partitions }]);
    return engine;
  });
}

function createShipmentsServiceForTest(eventStore: EventStore): ShipmentsService {
  return new EventSourcedShipmentService({
    eventStore,
    places: EMPTY_PLACE_LOOKUP,
    settings: DEFAULT_RULE_SETTINGS_READER,
    logger: silentLogger,
    metrics: new RecordedMetrics(),
  });
}
