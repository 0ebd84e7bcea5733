import type { JsonValue, PublicAddresses } from '@tracking/contracts';
import type { Collection, Message } from '@tracking/ports';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import type { WebhookAttempt } from '../requests-and-answers.ts';
import {
  type AttemptDocument,
  type DeliveryDocument,
  type PayloadDocument,
  attemptId,
  toDelivery,
} from '../store/delivery-document.ts';

/** Beside the latest one. */
const EARLIER_ATTEMPTS = 2;
/** Of what the receiver answered. */
const ANSWER_CHARS = 1_000;
/** A broker takes 1 MiB by default: what is larger is left out, and read by its id. */
const EVENT_CHARS = 256 * 1_024;

export interface DeadLetterMessagesParts {
  readonly endpoints: Pick<EndpointStore, 'get'>;
  readonly attempts: Collection<AttemptDocument>;
  readonly payloads: Collection<PayloadDocument>;
  readonly addresses: PublicAddresses;
}

/** Messages of the dead letter topic: what is needed to act on one without the database. docs/guides/dead-letters.md */
export class DeadLetterMessages {
  constructor(private readonly parts: DeadLetterMessagesParts) {}

  async of(deadLetters: readonly DeliveryDocument[]): Promise<readonly Message[]> {
    const { endpoints, payloads, attempts } = this.parts;
    const ids = [...new Set(deadLetters.map(({ endpoint_id }) => endpoint_id))];
    const [known, bodies, earlier] = await Promise.all([
      Promise.all(ids.map((id) => endpoints.get(id))),
      payloads.getMany([...new Set(deadLetters.map(({ payload_id }) => payload_id))]),
      attempts.getMany(deadLetters.flatMap(earlierIds)),
    ]);
    const endpointById = new Map(known.map((one) => [one?.id, one]));
    const bodyById = new Map(bodies.map(({ id, body }) => [id, body]));
    const attemptById = new Map(earlier.map((one) => [one.id, one]));
    return deadLetters.map((delivery) => {
      const endpoint = endpointById.get(delivery.endpoint_id);
      const before = earlierIds(delivery).flatMap((id) => attemptById.get(id) ?? []);
      const body = bodyById.get(delivery.payload_id);
      const { id, workspace_id, environment, event_created_at } = delivery;
      const value = {
        ...toDelivery(delivery),
        ...{ workspace_id, environment, event_created_at, reason: delivery.reason },
        endpoint: endpoint && {
          ...{ id: endpoint.id, url: endpoint.url, description: endpoint.description },
          status: endpoint.deleted ? 'deleted' : endpoint.status,
        },
        event: body === undefined || body.length > EVENT_CHARS ? null : (JSON.parse(body) as JsonValue),
        latest_attempts: [...before, ...(delivery.latest_attempt ? [delivery.latest_attempt] : [])].map(shown),
        replay: this.replay(id),
      };
      const headers = { 'delivery-id': id, 'event-id': delivery.event_id };
      return { key: delivery.endpoint_id, value: JSON.stringify(value), headers };
    });
  }

  /** Where it is delivered again, once its endpoint works. */
  private replay(id: string): JsonValue {
    const { baseUrl } = this.parts.addresses;
    return {
      delivery_url: `${baseUrl}/v1/webhook_deliveries/${id}`,
      ...{ method: 'POST', url: `${baseUrl}/v1/webhook_dead_letters/replay`, body: { delivery_ids: [id] } },
      command: `dead-letters replay ${id} --all-workspaces`,
    };
  }
}

/** The same where the event is too large: it is read by its id. */
export function withoutEvent(message: Message): Message {
  return { ...message, value: JSON.stringify({ ...(JSON.parse(message.value) as object), event: null }) };
}

function earlierIds({ id, attempts_count }: DeliveryDocument): readonly string[] {
  const first = Math.max(1, attempts_count - EARLIER_ATTEMPTS);
  return Array.from({ length: Math.max(0, attempts_count - first) }, (_, index) => attemptId(id, first + index));
}

/** Without the answer's headers, and with the beginning of its body. */
function shown({ number, at, duration_ms, status_code, error, response, manual, resent }: WebhookAttempt): JsonValue {
  const answer = response && response.body.slice(0, ANSWER_CHARS).toWellFormed();
  const said = { number, at, duration_ms, status_code, error: error && { ...error }, answer, manual };
  return { ...said, ...(resent && { resent }) };
}
