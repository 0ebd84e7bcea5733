import {
  EVENT_MESSAGE_HEADERS,
  type ItemPage,
  type PageRequest,
  type PayloadVersionConverter,
  type PublishedEvent,
  type Timestamp,
  parseTraceparent,
} from '@tracking/contracts';
import {
  type Clock,
  type Collection,
  type CollectionSpec,
  type Counter,
  type Document,
  type Logger,
  type BrokerMessage,
  type MessageBroker,
  MessageRefusedError,
  type Metrics,
  type ReceivedBrokerMessage,
} from '@tracking/ports';
import type { LogPosition, CausingRequest } from '@tracking/webhooks-domain';
import type { ParkedMessage } from '../operation-types.ts';
import { PARKED_TOPIC } from '../settings.ts';
import { toTraceLogFields } from '../tracing.ts';
import { type ParkedInvalidMessageOperations, parkedMessageNotFoundError } from '../webhooks-api.ts';

export interface ParkedMessageDocument extends Document, ReceivedBrokerMessage {
  readonly error: string;
  readonly parked_at: Timestamp;
}

export const PARKED_MESSAGES_COLLECTION_SPEC: CollectionSpec = {
  name: 'webhook_parked_messages',
  indexes: [{ name: 'order', fields: ['parked_at', 'id'] }],
};

interface ParkingLotDependencies {
  readonly documents: Collection<ParkedMessageDocument>;
  readonly broker: MessageBroker;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Parks messages that are not valid events, so that later messages are still processed. Parked messages are counted by
 * a metric, published on a topic and stored in a list.
 */
export class ParkedInvalidMessages {
  private readonly parked: Counter;

  constructor(private readonly dependencies: ParkingLotDependencies) {
    const help = 'Messages parked because they are not valid events';
    this.parked = dependencies.metrics.createCounter('webhook_parked_messages_total', help);
  }

  /** Returns the events of the messages, each once, and parks the messages that are not valid events. */
  async parseEventsOfMessages(
    messages: readonly ReceivedBrokerMessage[],
    versions: PayloadVersionConverter,
  ): Promise<readonly ConsumedEvent[]> {
    const events = new Map<string, ConsumedEvent>();
    for (const message of messages) {
      try {
        const event = parseBrokerMessageIntoEvent(message, versions);
        events.set(event.id, event);
      } catch (error) {
        await this.parkMessage(message, (error as Error).message);
      }
    }
    return [...events.values()];
  }

  /** Parks a message. The message's position in the topic is the key, so a message received again is parked once. */
  async parkMessage(message: ReceivedBrokerMessage, reason: string): Promise<void> {
    const { topic, partition, offset, key, value, headers } = message;
    const id = `${topic}.${partition}.${offset}`;
    if ((await this.dependencies.documents.get(id)) !== undefined) return;
    const error = reason.slice(0, 500);
    const source = { 'parked-from': id, 'parked-because': error };
    // Publish before storing: after an interruption, the topic receives the message twice rather than never.
    await this.publishMessageToParkedTopic({ key: key || id, value, headers: { ...headers, ...source } });
    const parked_at = this.dependencies.clock().toISOString();
    if (
      !(await this.dependencies.documents.insert({
        id,
        topic,
        partition,
        offset,
        key,
        value,
        headers,
        error,
        parked_at,
      }))
    )
      return;
    this.parked.add();
    this.dependencies.logger.error(
      { topic, partition, offset, ...toLogFieldsOfEvent(message), reason: error },
      'webhooks: a message was parked',
    );
  }

  /**
   * Publishes a message to the topic of parked messages. With its extra headers the message may exceed the broker's
   * limit; it is still listed.
   */
  private async publishMessageToParkedTopic(message: BrokerMessage): Promise<void> {
    try {
      await this.dependencies.broker.publishMessages(PARKED_TOPIC, [message]);
    } catch (error) {
      if (!(error instanceof MessageRefusedError)) throw error;
      const about = { ...toLogFieldsOfEvent(message), reason: error.message };
      this.dependencies.logger.warn(about, 'webhooks: the topic of parked messages refused a message');
    }
  }

  async getParkedMessage(id: string): Promise<ParkedMessageDocument> {
    const found = await this.dependencies.documents.get(id);
    if (found === undefined) throw parkedMessageNotFoundError();
    return found;
  }

  async removeParkedMessage(id: string): Promise<void> {
    await this.dependencies.documents.delete(id);
  }

  async listParkedMessages({ limit, after }: PageRequest): Promise<ItemPage<ParkedMessage>> {
    const found = await this.dependencies.documents.find({
      filter: {},
      sort: { fields: ['parked_at', 'id'] },
      limit: limit + 1,
      ...(after === undefined ? {} : { after }),
    });
    const items = found.slice(0, limit).map(({ value: _value, headers: _headers, ...shown }) => shown);
    const last = items.at(-1);
    return { items, next: found.length > limit && last !== undefined ? [last.parked_at, last.id] : null };
  }
}

/** Log fields of the event that a message's headers identify. */
function toLogFieldsOfEvent({ headers }: BrokerMessage): object {
  const { [EVENT_MESSAGE_HEADERS.id]: event } = headers;
  const origin = parseCausingRequestOfMessage(headers);
  return event === undefined ? {} : { event, ...toTraceLogFields({ event_id: event, origin }) };
}

/** Use cases of parked messages. */
export class ParkedMessageUseCases implements ParkedInvalidMessageOperations {
  /** @param recorder stores the deliveries of messages */
  constructor(
    private readonly parking: ParkedInvalidMessages,
    private readonly versions: PayloadVersionConverter,
    private readonly recorder: { consume(messages: readonly ReceivedBrokerMessage[]): Promise<void> },
  ) {}

  list(request: PageRequest): Promise<ItemPage<ParkedMessage>> {
    return this.parking.listParkedMessages(request);
  }

  async retry({ id }: { readonly id: string }): Promise<{ readonly recorded: boolean }> {
    const message = await this.parking.getParkedMessage(id);
    try {
      parseBrokerMessageIntoEvent(message, this.versions);
    } catch {
      return { recorded: false };
    }
    await this.recorder.consume([message]);
    await this.parking.removeParkedMessage(id);
    return { recorded: true };
  }
}

/** An event, with fields that only the headers of its message contain. */
export interface ConsumedEvent extends PublishedEvent {
  readonly place: LogPosition;
  /** Request that caused the event; undefined if the message does not identify one. */
  readonly origin: CausingRequest | undefined;
}

/**
 * Parses the event of a message.
 * @throws Error as {@link parseEvent}; if this process does not know the payload version; if the event cannot be
 *   converted to every older version, to which an endpoint may be pinned; or if the message has no log position
 */
export function parseBrokerMessageIntoEvent(
  { value, headers }: Pick<BrokerMessage, 'value' | 'headers'>,
  versions: PayloadVersionConverter,
): ConsumedEvent {
  const event = parseEvent(value);
  if (versions.findApiVersion(event.api_version) === undefined)
    throw new Error('api_version of the event is unknown to this process');
  requireEventConvertibleToOldestVersion(event, versions);
  const place = headers[EVENT_MESSAGE_HEADERS.position] ?? '';
  if (place === '') throw new Error('the message has no position header');
  return { ...event, place, origin: parseCausingRequestOfMessage(headers) };
}

function requireEventConvertibleToOldestVersion(event: PublishedEvent, versions: PayloadVersionConverter): void {
  try {
    versions.downgradeEventData(event, versions.oldest);
  } catch (error) {
    throw new Error(`the event cannot be converted to an older payload version: ${String(error)}`, { cause: error });
  }
}

/** Parses the request that caused a message's event; undefined if the headers do not identify one. */
function parseCausingRequestOfMessage(headers: BrokerMessage['headers']): CausingRequest | undefined {
  const { [EVENT_MESSAGE_HEADERS.requestId]: request_id, [EVENT_MESSAGE_HEADERS.traceparent]: traceparent } = headers;
  const origin = {
    ...(request_id !== undefined && { request_id }),
    ...(traceparent !== undefined && parseTraceparent(traceparent) !== undefined && { traceparent }),
  };
  return Object.keys(origin).length === 0 ? undefined : origin;
}

/**
 * Parses the event of a message. Event types are not checked, because a newer publisher may know more.
 * @throws Error with the fault, without content of the message
 */
function parseEvent(text: string): PublishedEvent {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('the message is not JSON');
  }
  if (typeof value !== 'object' || value === null) throw new Error('the message is not a JSON object');
  const event = value as Partial<Record<keyof PublishedEvent, unknown>>;
  for (const name of ['id', 'type', 'created_at', 'api_version', 'environment', 'workspace_id'] as const) {
    if (typeof event[name] !== 'string' || event[name] === '') throw new Error(`${name} is missing`);
  }
  if (Number.isNaN(Date.parse(String(event.created_at)))) throw new Error('created_at of the event is not a timestamp');
  if (typeof event.data !== 'object' || event.data === null) throw new Error('data of the event is missing');
  return event as PublishedEvent;
}
