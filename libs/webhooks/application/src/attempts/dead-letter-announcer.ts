import type { JsonValue, PublicAddresses } from '@tracking/contracts';
import {
  type Clock,
  type Collection,
  type Counter,
  type LeaseSource,
  type Logger,
  type BrokerMessage,
  type MessageBroker,
  MessageRefusedError,
  type Metrics,
  createRetryCounter,
} from '@tracking/ports';
import { LeaderElectedJob } from '@tracking/resilience';
import { markDeadLetterAnnounced } from '@tracking/webhooks-domain';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import type { WebhookAttempt } from '../operation-types.ts';
import { DEAD_LETTERS_TOPIC } from '../settings.ts';
import {
  DEAD_LETTER_ANNOUNCEMENT_QUEUE,
  type AttemptDocument,
  type DeliveryDocument,
  type PayloadDocument,
  computeReusableAttemptSlotId,
  toWebhookDelivery,
  toDeliveryShardValuesOfScopes,
  convertToDeliveryDocument,
} from '../store/delivery-document.ts';
import type { EndpointEventRecorder } from './endpoint-events.ts';

/** Number of dead letters in one read. The number is small because every dead letter includes its event. */
const DEAD_LETTERS_PER_READ = 50;
/** Milliseconds between two checks for dead letters that other processes left unannounced. */
const UNANNOUNCED_DEAD_LETTER_CHECK_INTERVAL_MS = 5_000;

interface DeadLetterAnnouncerDependencies {
  readonly deliveries: Collection<DeliveryDocument>;
  readonly broker: MessageBroker;
  readonly messages: DeadLetterMessageBuilder;
  readonly events: EndpointEventRecorder;
  readonly leases: LeaseSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Announces every dead letter to the workspace's other endpoints and on the dead letter topic, at least once. The write
 * that makes a delivery a dead letter also queues its announcement. The delivery leaves that queue after both
 * announcements, so no crash loses one.
 */
export class DeadLetterAnnouncer {
  readonly job: LeaderElectedJob;
  private readonly announced: Counter;

  constructor(private readonly dependencies: DeadLetterAnnouncerDependencies) {
    const { leases, logger, metrics } = dependencies;
    this.announced = metrics.createCounter('webhook_dead_letters_total', 'Deliveries that became dead letters');
    this.job = new LeaderElectedJob({
      leases,
      lease: 'webhooks-dead-letters',
      logger,
      countRetry: createRetryCounter(metrics),
      description: 'announcing dead letters',
      intervalMs: UNANNOUNCED_DEAD_LETTER_CHECK_INTERVAL_MS,
      runJobRound: (ending) => this.announceDeadLetters(ending),
    });
  }

  private async announceDeadLetters(ending: AbortSignal): Promise<void> {
    for (;;) {
      const found = await this.dependencies.deliveries.find({
        filter: { queue: DEAD_LETTER_ANNOUNCEMENT_QUEUE },
        sort: { fields: ['due_at', 'id'] },
        limit: DEAD_LETTERS_PER_READ,
      });
      if (found.length === 0 || ending.aborted) return;
      await this.dependencies.events.recordDeadLetterEvents(found);
      await this.publishDeadLetters(found);
      const at = this.dependencies.clock().toISOString();
      await Promise.all(found.map((delivery) => this.storeDeadLetterAnnouncementTime(delivery, at)));
      this.announced.add(found.length);
    }
  }

  /**
   * Publishes dead letters. A message that is too large for the broker is skipped, so that it does not block later
   * messages. The API still lists its dead letter.
   */
  private async publishDeadLetters(found: readonly DeliveryDocument[]): Promise<void> {
    const messages = await this.dependencies.messages.buildDeadLetterMessages(found);
    if (await this.publishDeadLetterMessages(messages)) return;
    for (const [index, message] of messages.entries()) {
      if (
        (await this.publishDeadLetterMessages([message])) ||
        (await this.publishDeadLetterMessages([removeEventFromMessage(message)]))
      )
        continue;
      const { id: delivery, endpoint_id: endpoint } = found[index] ?? {};
      this.dependencies.logger.warn({ delivery, endpoint }, 'webhooks: the dead letter topic refused a message');
    }
  }

  private async publishDeadLetterMessages(messages: readonly BrokerMessage[]): Promise<boolean> {
    try {
      await this.dependencies.broker.publishMessages(DEAD_LETTERS_TOPIC, messages);
      return true;
    } catch (error) {
      if (error instanceof MessageRefusedError) return false;
      throw error;
    }
  }

  /**
   * Marks the dead letter as announced. Retries if other fields of the dead letter changed in the meantime, because the
   * message is already published.
   */
  private async storeDeadLetterAnnouncementTime(delivery: DeliveryDocument, at: string): Promise<void> {
    let current: DeliveryDocument | undefined = delivery;
    while (current?.status === 'dead_lettered' && current.announced_at === null) {
      if (
        await this.dependencies.deliveries.replace(convertToDeliveryDocument(markDeadLetterAnnounced(current, at)), {
          revision: current.revision,
        })
      )
        return;
      current = await this.dependencies.deliveries.get(delivery.id, toDeliveryShardValuesOfScopes(delivery));
    }
  }
}

/** Number of earlier attempts in a dead letter message, besides the latest attempt. */
const MAX_EARLIER_ATTEMPTS_IN_MESSAGE = 2;
/** Maximum number of characters of a receiver's answer in a message. */
const MAX_RECEIVER_ANSWER_CHARS = 1_000;
/** Maximum size of the event in a message. Larger events are omitted, because a broker accepts 1 MiB by default. */
const MAX_EVENT_CHARS_IN_DEAD_LETTER_MESSAGE = 256 * 1_024;

interface DeadLetterMessagesDependencies {
  readonly endpoints: Pick<EndpointStore, 'getEndpoint'>;
  readonly attempts: Collection<AttemptDocument>;
  readonly payloads: Collection<PayloadDocument>;
  readonly addresses: PublicAddresses;
}

/**
 * Builds the messages of the dead letter topic. They contain enough to act on without the database:
 * docs/guides/dead-letters.md
 */
export class DeadLetterMessageBuilder {
  constructor(private readonly dependencies: DeadLetterMessagesDependencies) {}

  async buildDeadLetterMessages(deadLetters: readonly DeliveryDocument[]): Promise<readonly BrokerMessage[]> {
    const { endpoints, payloads, attempts } = this.dependencies;
    const ids = [...new Set(deadLetters.map(({ endpoint_id }) => endpoint_id))];
    const [known, bodies, earlier] = await Promise.all([
      Promise.all(ids.map((id) => endpoints.getEndpoint(id))),
      payloads.getMany([...new Set(deadLetters.map(({ payload_id }) => payload_id))]),
      attempts.getMany(deadLetters.flatMap(listEarlierAttemptIds)),
    ]);
    const endpointById = new Map(known.map((one) => [one?.id, one]));
    const bodyById = new Map(bodies.map(({ id, body }) => [id, body]));
    const attemptById = new Map(earlier.map((one) => [one.id, one]));
    return deadLetters.map((delivery) => {
      const endpoint = endpointById.get(delivery.endpoint_id);
      const before = listEarlierAttemptIds(delivery).flatMap((id) => attemptById.get(id) ?? []);
      const body = bodyById.get(delivery.payload_id);
      const { id, workspace_id, environment, event_created_at } = delivery;
      const value = {
        ...toWebhookDelivery(delivery),
        ...{ workspace_id, environment, event_created_at, reason: delivery.reason },
        endpoint: endpoint && {
          ...{ id: endpoint.id, url: endpoint.url, description: endpoint.description },
          status: endpoint.deleted ? 'deleted' : endpoint.status,
        },
        event:
          body === undefined || body.length > MAX_EVENT_CHARS_IN_DEAD_LETTER_MESSAGE
            ? null
            : (JSON.parse(body) as JsonValue),
        latest_attempts: [...before, ...(delivery.latest_attempt ? [delivery.latest_attempt] : [])].map(
          shortenAttemptForDeadLetterMessage,
        ),
        replay: this.createRedeliveryInstructions(id),
      };
      const headers = { 'delivery-id': id, 'event-id': delivery.event_id };
      return { key: delivery.endpoint_id, value: JSON.stringify(value), headers };
    });
  }

  /** Returns instructions for delivering the event again once its endpoint works. */
  private createRedeliveryInstructions(id: string): JsonValue {
    const { baseUrl } = this.dependencies.addresses;
    return {
      delivery_url: `${baseUrl}/v1/webhook_deliveries/${id}`,
      ...{ method: 'POST', url: `${baseUrl}/v1/webhook_dead_letters/replay`, body: { delivery_ids: [id] } },
      command: `dead-letters replay ${id} --all-workspaces`,
    };
  }
}

/** Returns the message without its event. */
function removeEventFromMessage(message: BrokerMessage): BrokerMessage {
  return { ...message, value: JSON.stringify({ ...(JSON.parse(message.value) as object), event: null }) };
}

function listEarlierAttemptIds({ id, attempts_count }: DeliveryDocument): readonly string[] {
  const first = Math.max(1, attempts_count - MAX_EARLIER_ATTEMPTS_IN_MESSAGE);
  return Array.from({ length: Math.max(0, attempts_count - first) }, (_, index) =>
    computeReusableAttemptSlotId(id, first + index),
  );
}

/** Returns an attempt without response headers, and with the beginning of the response body. */
function shortenAttemptForDeadLetterMessage({
  number,
  at,
  duration_ms,
  status_code,
  error,
  response,
  manual,
  resent,
}: WebhookAttempt): JsonValue {
  const answer = response && response.body.slice(0, MAX_RECEIVER_ANSWER_CHARS).toWellFormed();
  const fields = { number, at, duration_ms, status_code, error: error && { ...error }, answer, manual };
  return { ...fields, ...(resent && { resent }) };
}
