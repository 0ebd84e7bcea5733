import { randomBytes, randomUUID } from 'node:crypto';
import {
  EVENT_MESSAGE_HEADERS,
  NEWEST_API_VERSION,
  PAYLOAD_VERSION_CONVERTER,
  type PublishedEvent,
  SHIPMENT_EVENTS_TOPIC,
} from '@tracking/contracts';
import { type EmbeddedSqliteEngine, InProcessLeases } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import {
  type Logger,
  type LeaseGroupMembership,
  type BrokerMessage,
  type OutboundHttp,
  type Position,
  type ReceivedBrokerMessage,
  UnavailableError,
} from '@tracking/ports';
import { LeaseDistributor, monotonicMs } from '@tracking/resilience';
import { RecordedMetrics, type TempFolder, eventually, createTempFolder } from '@tracking/testing';
import { startSystemTimer } from '../src/attempts/dispatcher.ts';
import {
  CONSUMER_GROUP,
  type DeliveryFilter,
  type FindShardOwner,
  type WorkspaceScope,
  WEBHOOK_BROKER_TOPICS,
  type WebhookDelivery,
  type DetailedWebhookDelivery,
  type WebhookEndpoint,
  type WebhookOperations,
  type WebhookSettings,
  WebhooksFeature,
  type WebhooksDependencies,
  createShardLeaseName,
} from '../src/index.ts';
import type { EventLoopTime, SetTimer } from '../src/scheduling/timing.ts';
import { FakeEventLog } from './fake-event-log.ts';
import { FakeReceivers } from './fake-receivers.ts';
import { SimulatedKillableProcess } from './killable-process.ts';

export const SAMPLE_SCOPE: WorkspaceScope = { workspace_id: 'wsp_one', environment: 'live' };

export interface RunningWebhooks extends WebhookOperations {
  readonly process: SimulatedKillableProcess;
  readonly metrics: RecordedMetrics;
  stop(): Promise<void>;
}

export interface KillableWebhooks extends RunningWebhooks {
  /** Kills the process; the others then take over its shards. */
  kill(): Promise<void>;
}

/** An event loop that was idle for a second whenever it is read. */
function createIdleEventLoop(): () => EventLoopTime {
  let idle = 0;
  return () => ({ elapsed: 0, idle: (idle += 1_000) });
}

/** Everything around webhooks that outlives their processes: storage, topics, receivers. */
export class WebhooksTestHarness {
  readonly receivers = new FakeReceivers();
  /** Secrets key of processes started from now on. */
  secretsKey = randomBytes(32);
  /** Payload versions of processes started from now on. */
  versions = PAYLOAD_VERSION_CONVERTER;
  /** Loop time of processes started from now on. By default, processes always have spare time. */
  loopTime: () => EventLoopTime = createIdleEventLoop();
  private readonly leases = new InProcessLeases(1);
  /** Processes that share the shards, by address. */
  private readonly sharing = new Map<string, RunningWebhooks>();
  private readonly running = new Set<RunningWebhooks>();
  get errors(): readonly LogLine[] {
    return this.lines.filter(({ level }) => level === 'error');
  }
  /** Log lines of all processes. */
  readonly lines: LogLine[] = [];
  private readonly logger: Logger = {
    debug: (fields, message) => void this.lines.push({ level: 'debug', message, ...fields }),
    info: (fields, message) => void this.lines.push({ level: 'info', message, ...fields }),
    warn: (fields, message) => void this.lines.push({ level: 'warn', message, ...fields }),
    error: (fields, message) => void this.lines.push({ level: 'error', message, ...fields }),
  };
  private offset = 0;
  /** Pending timers of all processes of the test. Each function fires its timer early, when `clockOffset` changes. */
  private readonly timers = new Set<() => void>();
  /** Every {@link event}, published or not. */
  readonly eventLog = new FakeEventLog();
  /** Log position of each event, by event id. */
  private readonly positions = new Map<string, Position>();
  /** True if the log of events does not respond. */
  logIsAway = false;

  private constructor(
    private readonly folder: TempFolder,
    readonly engine: EmbeddedSqliteEngine,
  ) {}

  /**
   * Milliseconds by which time has passed faster for every process. Setting it wakes everything due by the new time. A
   * process's own `clockOffset` is a step of its wall clock only.
   */
  get clockOffset(): number {
    return this.offset;
  }
  set clockOffset(ms: number) {
    this.offset = ms;
    for (const ring of this.timers) setImmediate(ring);
  }

  static async openWebhooksHarness(): Promise<WebhooksTestHarness> {
    const folder = await createTempFolder();
    const engine = await openTestEngine(folder.path, { metrics: new RecordedMetrics() });
    await engine.messageBroker.ensureTopics([SHIPMENT_EVENTS_TOPIC, ...WEBHOOK_BROKER_TOPICS]);
    return new WebhooksTestHarness(folder, engine);
  }

  async closeWebhooksHarness(): Promise<void> {
    // Stop dead processes too, so that they set no timers.
    for (const { stop } of this.running) await stop();
    await this.engine.closeEngine();
    await this.folder.remove();
  }

  /** Starts a process of webhooks. */
  async startWebhooks(
    settings: Partial<WebhookSettings> = {},
    process = new SimulatedKillableProcess(),
    outbound: OutboundHttp = this.receivers,
    passive = false,
    sharing: Pick<WebhooksDependencies, 'shardLeases' | 'findShardOwner'> = {},
  ): Promise<RunningWebhooks> {
    const metrics = new RecordedMetrics();
    const webhooks = await WebhooksFeature.start({
      eventStore: { head: () => this.readLogHead() },
      eventLog: this.eventLog,
      documentStore: process.wrapDocumentStoreWithFaults(this.engine.documentStore),
      broker: process.makeBrokerKillable(this.engine.messageBroker),
      leases: process.makeLeasesKillable(this.leases),
      ...sharing,
      outbound: process.makeOutboundHttpKillable(outbound),
      secretsKey: this.secretsKey,
      clock: () => new Date(Date.now() + this.clockOffset + process.clockOffset),
      elapsed: () => monotonicMs() + this.clockOffset,
      random: Math.random,
      logger: this.logger,
      metrics,
      settings: {
        addresses: { appUrl: 'https://app.example.com', baseUrl: 'https://api.example.com' },
        pollMs: 5,
        drainMs: 500,
        enginePauses: { firstPauseMs: 1, maxPauseMs: 20 },
        ...settings,
      },
      versions: this.versions,
      passive,
      loopTime: this.loopTime,
      setTimer: this.setTimer,
    });
    const running = { ...webhooks, process, metrics, stop: () => process.waitForWorkEndOrDeath(webhooks.stop()) };
    this.running.add(running);
    return running;
  }

  /**
   * Starts a process that shares the shards with the others, and gets messages from them.
   * @returns the process, and a function that kills it and makes the others notice
   */
  async startProcessSharingShards(settings: Partial<WebhookSettings> = {}): Promise<KillableWebhooks> {
    const address = `process-${this.sharing.size}`;
    const process = new SimulatedKillableProcess();
    let membership: LeaseGroupMembership | undefined;
    const shares = new LeaseDistributor({
      leases: {
        acquireLease: (name, signal) => this.leases.acquireLease(name, signal),
        joinLeaseGroup: (about) => (membership = this.leases.joinLeaseGroup(about)),
        listHeldLeases: () => this.leases.listHeldLeases(),
        close: () => Promise.resolve(),
      },
      ...{ member: { name: address, address }, logger: this.logger, metrics: new RecordedMetrics() },
    });
    const shards = shares.getOrCreateLeaseGroup('webhook_shards');
    const findShardOwner: FindShardOwner = (shard) => {
      const owner = shards.findOtherLeaseOwner(createShardLeaseName(shard))?.address;
      return owner === undefined ? undefined : this.sharing.get(owner)?.owners;
    };
    const running = await this.startWebhooks(settings, process, this.receivers, false, {
      ...{ shardLeases: process.makeLeasesKillable(shards), findShardOwner },
    });
    this.sharing.set(address, running);
    const leave = () => membership?.removeOwnMember();
    const kill = async () => {
      process.simulateProcessKill();
      await leave();
    };
    const stop = async () => {
      await running.stop();
      await leave();
    };
    return { ...running, stop, kill };
  }

  private readonly setTimer: SetTimer = (callback, ms) => {
    const ring = () => {
      if (!this.timers.has(ring)) return;
      cancel();
      callback();
    };
    const cancelSystemTimer = startSystemTimer(ring, ms);
    const cancel = () => {
      cancelSystemTimer();
      this.timers.delete(ring);
    };
    this.timers.add(ring);
    return cancel;
  };

  now(): string {
    return new Date(Date.now() + this.clockOffset).toISOString();
  }

  createSampleWebhookCommand(scope: WorkspaceScope = SAMPLE_SCOPE) {
    return { ...scope, id: randomUUID(), at: this.now() };
  }

  /** Creates an endpoint, verified and enabled. */
  async createEnabledEndpoint(
    api: WebhookOperations,
    url: string,
    fields: object = {},
    scope: WorkspaceScope = SAMPLE_SCOPE,
  ): Promise<HarnessEndpoint> {
    const created = await api.endpoints.create({
      ...this.createSampleWebhookCommand(scope),
      fields: { url, event_types: ['*'], ...fields },
    });
    await api.endpoints.verify({ ...this.createSampleWebhookCommand(scope), endpoint_id: created.id });
    const enabled = await api.endpoints.enable({ ...this.createSampleWebhookCommand(scope), endpoint_id: created.id });
    return { ...enabled, secret: created.secret };
  }

  /** Adds an acknowledged event to the log. */
  addAcknowledgedEventToLog(fields: Partial<PublishedEvent> = {}): PublishedEvent {
    const shipment_id = `shp_${randomUUID()}`;
    const id = fields.id ?? `evt_${randomUUID()}`;
    if (!this.positions.has(id)) this.positions.set(id, createFixedWidthPosition(this.positions.size + 1));
    const event = {
      id,
      type: 'shipment.created',
      created_at: this.now(),
      api_version: NEWEST_API_VERSION,
      ...SAMPLE_SCOPE,
      data: { shipment_id, external_id: 'PO-1', shipment_version: 1, shipment: { id: shipment_id } },
      ...fields,
    } as const;
    this.eventLog.addEvents(event);
    return event;
  }

  /** Publishes an event as the publisher does. */
  async publishEventsToBrokerForTest(...events: readonly PublishedEvent[]): Promise<void> {
    await this.sendMessages(...events.map((event) => this.createEventMessage(event)));
  }

  async sendMessages(...messages: readonly BrokerMessage[]): Promise<void> {
    await this.engine.messageBroker.publishMessages(SHIPMENT_EVENTS_TOPIC.name, messages);
  }

  /** @param more additional headers; without `position`, no header names the event's log position */
  createEventMessage(event: PublishedEvent, more: { readonly [name: string]: string | undefined } = {}): BrokerMessage {
    const position = this.positions.get(event.id);
    const headers = { [EVENT_MESSAGE_HEADERS.id]: event.id, [EVENT_MESSAGE_HEADERS.position]: position, ...more };
    const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const key = String(event.data['shipment_id']);
    return { key, value: JSON.stringify(event), headers: Object.fromEntries(given) };
  }

  private readLogHead(): Promise<Position | undefined> {
    if (this.logIsAway) return Promise.reject(new UnavailableError('event store', 'test'));
    const { size } = this.positions;
    return Promise.resolve(size === 0 ? undefined : createFixedWidthPosition(size));
  }

  /** Returns the number of published events that are not recorded yet. */
  readRecordingLag(): Promise<number> {
    return this.engine.messageBroker.readConsumerLag(SHIPMENT_EVENTS_TOPIC.name, CONSUMER_GROUP);
  }

  /** Resolves when everything published so far is recorded. */
  async waitUntilEventsRecorded(): Promise<void> {
    await eventually(async () => expect(await this.readRecordingLag()).toBe(0), { deadlineMs: 10_000 });
  }

  /** Returns everything in a topic, once it contains `count` messages or more. */
  async readMessages(topic: string, count: number): Promise<readonly ReceivedBrokerMessage[]> {
    const seen: ReceivedBrokerMessage[] = [];
    const done = new AbortController();
    const options = { topic, group: `test-${randomUUID()}`, signal: done.signal };
    const consuming = this.engine.messageBroker.consume(options, async (messages) => void seen.push(...messages));
    try {
      await eventually(() => expect(seen.length).toBeGreaterThanOrEqual(count));
    } finally {
      done.abort();
      await consuming;
    }
    return seen;
  }

  async listDeliveries(
    api: WebhookOperations,
    filter: StageFilter = {},
    scope: WorkspaceScope = SAMPLE_SCOPE,
  ): Promise<readonly WebhookDelivery[]> {
    return (await api.deliveries.list({ scopes: [scope], filter: filter as DeliveryFilter, limit: 200 })).items;
  }

  /** Returns the delivery of this event to this endpoint. */
  async getDelivery(api: WebhookOperations, endpoint_id: string, event_id: string): Promise<DetailedWebhookDelivery> {
    const [found] = await this.listDeliveries(api, { endpoint_id, event_id });
    if (found === undefined) throw new Error(`no delivery of ${event_id}`);
    return api.deliveries.get({ scopes: [SAMPLE_SCOPE], delivery_id: found.id });
  }
}

/** A filter of deliveries, with statuses of any type. */
type StageFilter = Omit<DeliveryFilter, 'statuses'> & { readonly statuses?: readonly string[] };

/** Positions have a fixed width, like those of event stores. */
function createFixedWidthPosition(count: number): Position {
  return String(count).padStart(10, '0');
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly [field: string]: unknown;
}

export interface HarnessEndpoint extends WebhookEndpoint {
  readonly secret: string;
}
