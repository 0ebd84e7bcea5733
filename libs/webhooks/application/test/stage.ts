import { randomBytes, randomUUID } from 'node:crypto';
import type { PublishedEvent } from '@tracking/contracts';
import { EmbeddedEngine, InProcessLeases } from '@tracking/embedded';
import type { OutboundHttp } from '@tracking/ports';
import { RecordedMetrics, type TempFolder, silentLogger, tempFolder } from '@tracking/testing';
import {
  EVENTS_TOPIC,
  type Scope,
  type WebhookDelivery,
  type WebhookDeliveryDetail,
  type WebhookEndpoint,
  type WebhookSettings,
  Webhooks,
  type WebhooksApi,
} from '../src/index.ts';
import { FakeReceivers } from './fake-receivers.ts';
import { MemoryBroker, MemoryTopics } from './memory-broker.ts';
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
  readonly topics = new MemoryTopics();
  readonly secretsKey = randomBytes(32);
  private readonly leases = new InProcessLeases(1);
  private readonly running = new Set<Running>();
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
    return new Stage(folder, engine);
  }

  async close(): Promise<void> {
    for (const { process, stop } of this.running) if (!process.dead) await stop();
    await this.engine.close();
    await this.folder.remove();
  }

  /** A process of webhooks. */
  async start(
    settings: Partial<WebhookSettings> = {},
    process = new MortalProcess(),
    outbound: OutboundHttp = this.receivers,
  ): Promise<Running> {
    const metrics = new RecordedMetrics();
    const webhooks = await Webhooks.start({
      documentStore: process.documentStore(this.engine.documentStore),
      broker: process.broker(new MemoryBroker(this.topics)),
      leases: process.leases(this.leases),
      outbound: process.outbound(outbound),
      secretsKey: this.secretsKey,
      clock: () => new Date(Date.now() + this.clockOffset),
      random: Math.random,
      logger: silentLogger,
      metrics,
      settings: { appUrl: 'https://app.example.com', pollMs: 5, drainMs: 500, ...settings },
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

  publish(...events: readonly PublishedEvent[]): void {
    this.topics.append(
      EVENTS_TOPIC,
      events.map((event) => ({
        key: String(event.data['shipment_id']),
        value: JSON.stringify(event),
        headers: { 'event-id': event.id },
      })),
    );
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
