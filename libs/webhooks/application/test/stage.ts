import { randomBytes, randomUUID } from 'node:crypto';
import { type PublishedEvent, SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import { EmbeddedEngine, InProcessLeases } from '@tracking/embedded';
import type { OutboundHttp, ReceivedMessage } from '@tracking/ports';
import { RecordedMetrics, type TempFolder, eventually, silentLogger, tempFolder } from '@tracking/testing';
import {
  CONSUMER_GROUP,
  type Scope,
  WEBHOOK_TOPICS,
  type WebhookDelivery,
  type WebhookDeliveryDetail,
  type WebhookEndpoint,
  type WebhookSettings,
  Webhooks,
  type WebhooksApi,
} from '../src/index.ts';
import { FakeReceivers } from './fake-receivers.ts';
import { MortalProcess } from './mortal-process.ts';

export const SCOPE: Scope = { workspace_id: 'wsp_one', environment: 'live' };

export interface Running extends WebhooksApi {
  readonly process: MortalProcess;
  readonly metrics: RecordedMetrics;
  stop(): Promise<void>;
}

/** Everything around webhooks that outlives their processes: storage, topics, receivers. */
export class Stage {
  readonly receivers = new FakeReceivers();
  /** Of processes started from now on. */
  secretsKey = randomBytes(32);
  private readonly leases = new InProcessLeases(1);
  private readonly running = new Set<Running>();
  /** What any process logged as an error. */
  readonly errors: object[] = [];
  private readonly logger = {
    ...silentLogger,
    error: (fields: object, message: string) => void this.errors.push({ ...fields, message }),
  };
  /** Added to the clock of every process, in milliseconds. */
  clockOffset = 0;

  private constructor(
    private readonly folder: TempFolder,
    readonly engine: EmbeddedEngine,
  ) {}

  static async open(): Promise<Stage> {
    const folder = await tempFolder();
    const engine = await EmbeddedEngine.open({
      dataDir: folder.path,
      logger: silentLogger,
      metrics: new RecordedMetrics(),
    });
    await engine.messageBroker.ensureTopics([SHIPMENT_EVENTS_TOPIC, ...WEBHOOK_TOPICS]);
    return new Stage(folder, engine);
  }

  async close(): Promise<void> {
    for (const { process, stop } of this.running) {
      // The dead one waits for ever for answers that no longer come; once told to stop it sets no more timers.
      if (process.dead) void stop();
      else await stop();
    }
    await this.engine.close();
    await this.folder.remove();
  }

  /** A process of webhooks. */
  async start(
    settings: Partial<WebhookSettings> = {},
    process = new MortalProcess(),
    outbound: OutboundHttp = this.receivers,
    passive = false,
  ): Promise<Running> {
    const metrics = new RecordedMetrics();
    const webhooks = await Webhooks.start({
      documentStore: process.documentStore(this.engine.documentStore),
      broker: process.broker(this.engine.messageBroker),
      leases: process.leases(this.leases),
      outbound: process.outbound(outbound),
      secretsKey: this.secretsKey,
      clock: () => new Date(Date.now() + this.clockOffset),
      random: Math.random,
      logger: this.logger,
      metrics,
      settings: { appUrl: 'https://app.example.com', pollMs: 5, drainMs: 500, ...settings },
      passive,
    });
    const running = { ...webhooks, process, metrics, stop: () => webhooks.stop() };
    this.running.add(running);
    return running;
  }

  now(): string {
    return new Date(Date.now() + this.clockOffset).toISOString();
  }

  command(scope: Scope = SCOPE) {
    return { ...scope, id: randomUUID(), at: this.now() };
  }

  /** An endpoint, verified and enabled. */
  async endpoint(api: WebhooksApi, url: string, fields: object = {}, scope: Scope = SCOPE): Promise<EndpointOnStage> {
    const created = await api.endpoints.create({
      ...this.command(scope),
      fields: { url, event_types: ['*'], ...fields },
    });
    await api.endpoints.verify({ ...this.command(scope), endpoint_id: created.id });
    const enabled = await api.endpoints.enable({ ...this.command(scope), endpoint_id: created.id });
    return { ...enabled, secret: created.secret };
  }

  event(fields: Partial<PublishedEvent> = {}): PublishedEvent {
    const shipment_id = `shp_${randomUUID()}`;
    return {
      id: `evt_${randomUUID()}`,
      type: 'shipment.created',
      created_at: this.now(),
      ...SCOPE,
      data: { shipment_id, external_id: 'PO-1', shipment_version: 1, shipment: { id: shipment_id } },
      ...fields,
    };
  }

  async publish(...events: readonly PublishedEvent[]): Promise<void> {
    const messages = events.map((event) => ({
      key: String(event.data['shipment_id']),
      value: JSON.stringify(event),
      headers: { 'event-id': event.id },
    }));
    await this.engine.messageBroker.publish(SHIPMENT_EVENTS_TOPIC.name, messages);
  }

  /** Published events that are not recorded yet. */
  lag(): Promise<number> {
    return this.engine.messageBroker.lag(SHIPMENT_EVENTS_TOPIC.name, CONSUMER_GROUP);
  }

  /** Resolves when everything published so far is recorded. */
  async consumed(): Promise<void> {
    await eventually(async () => expect(await this.lag()).toBe(0), { deadlineMs: 10_000 });
  }

  /** Everything in a topic, once there are `count` messages or more. */
  async messages(topic: string, count: number): Promise<readonly ReceivedMessage[]> {
    const seen: ReceivedMessage[] = [];
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

  async deliveries(api: WebhooksApi, filter: object = {}, scope: Scope = SCOPE): Promise<readonly WebhookDelivery[]> {
    return (await api.deliveries.list({ scopes: [scope], filter, limit: 200 })).items;
  }

  /** The one delivery of this event to this endpoint. */
  async delivery(api: WebhooksApi, endpoint_id: string, event_id: string): Promise<WebhookDeliveryDetail> {
    const [found] = await this.deliveries(api, { endpoint_id, event_id });
    if (found === undefined) throw new Error(`no delivery of ${event_id}`);
    return api.deliveries.get({ scopes: [SCOPE], delivery_id: found.id });
  }
}

export interface EndpointOnStage extends WebhookEndpoint {
  readonly secret: string;
}
