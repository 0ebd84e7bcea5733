import type { PageOf, PageRequest } from '@tracking/contracts';
import { EVENT_HEADERS, type Timestamp } from '@tracking/contracts';
import {
  type Clock,
  type Collection,
  type CollectionSpec,
  type Counter,
  type Document,
  type Logger,
  type Message,
  type MessageBroker,
  MessageRefused,
  type Metrics,
  type ReceivedMessage,
} from '@tracking/ports';
import { noSuchParkedMessage } from '../refusals.ts';
import type { ParkedMessage } from '../requests-and-answers.ts';
import { PARKED_TOPIC } from '../topics.ts';
import { traceFields } from '../tracing.ts';
import { originIn } from './published-event.ts';

export interface ParkedDocument extends Document, ReceivedMessage {
  readonly error: string;
  readonly parked_at: Timestamp;
}

export const PARKED: CollectionSpec = {
  name: 'webhook_parked_messages',
  indexes: [{ name: 'order', fields: ['parked_at', 'id'] }],
};

export interface ParkingParts {
  readonly documents: Collection<ParkedDocument>;
  readonly broker: MessageBroker;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Parks poison messages, which cannot be taken for events, so that all others go on: seen in a metric, a topic and a list. */
export class Parking {
  private readonly parked: Counter;

  constructor(private readonly parts: ParkingParts) {
    const help = 'Messages that could not be taken for events';
    this.parked = parts.metrics.counter('webhook_parked_messages_total', help);
  }

  /** Stored under the message's place in its topic: parked once, however often it comes. */
  async park(message: ReceivedMessage, reason: string): Promise<void> {
    const { topic, partition, offset, key, value, headers } = message;
    const id = `${topic}.${partition}.${offset}`;
    if ((await this.parts.documents.get(id)) !== undefined) return;
    const error = reason.slice(0, 500);
    const source = { 'parked-from': id, 'parked-because': error };
    // First the topic: interrupted in between, it gets the message twice rather than never.
    await this.tellTopic({ key: key || id, value, headers: { ...headers, ...source } });
    const parked_at = this.parts.clock().toISOString();
    if (!(await this.parts.documents.insert({ id, topic, partition, offset, key, value, headers, error, parked_at })))
      return;
    this.parked.add();
    this.parts.logger.error(
      { topic, partition, offset, ...said(message), reason: error },
      'webhooks: a message was parked',
    );
  }

  /** With what is said about it, it may be larger than the broker takes: the list holds it all the same. */
  private async tellTopic(message: Message): Promise<void> {
    try {
      await this.parts.broker.publish(PARKED_TOPIC, [message]);
    } catch (error) {
      if (!(error instanceof MessageRefused)) throw error;
      const about = { ...said(message), reason: error.message };
      this.parts.logger.warn(about, 'webhooks: the topic of parked messages refused one');
    }
  }

  async get(id: string): Promise<ParkedDocument> {
    const found = await this.parts.documents.get(id);
    if (found === undefined) throw noSuchParkedMessage();
    return found;
  }

  async remove(id: string): Promise<void> {
    await this.parts.documents.delete(id);
  }

  async list({ limit, after }: PageRequest): Promise<PageOf<ParkedMessage>> {
    const found = await this.parts.documents.find({
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

/** What its headers say of its event, which it could not be taken for. */
function said({ headers }: Message): object {
  const { [EVENT_HEADERS.id]: event } = headers;
  const origin = originIn(headers);
  return event === undefined ? {} : { event, ...traceFields({ event_id: event, origin }) };
}
