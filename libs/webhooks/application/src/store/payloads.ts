import type { ApiVersion, Timestamp } from '@tracking/contracts';
import type { Collection, CollectionSpec, Document } from '@tracking/ports';
import { LRUCache } from 'lru-cache';

/** The body of an event in one payload version: written once, before or with its first delivery, and never changed. */
export interface PayloadDocument extends Document {
  readonly body: string;
  readonly created_at: Timestamp;
}

export const PAYLOADS: CollectionSpec = { name: 'webhook_payloads', indexes: [], durability: 'ordered' };

export function payloadId(eventId: string, apiVersion: ApiVersion): string {
  return `${eventId}.${apiVersion}`;
}

/** The id of the event whose body it is. */
export function eventOfPayload(payloadId: string): string {
  return payloadId.slice(0, payloadId.lastIndexOf('.'));
}

/** Bodies by id; the latest used are kept in memory, up to a number of bytes. */
export class Payloads {
  private readonly kept: LRUCache<string, Buffer>;

  /** @param maxBytes of bodies in memory */
  constructor(
    private readonly documents: Collection<PayloadDocument>,
    maxBytes: number,
  ) {
    this.kept = new LRUCache({ maxSize: maxBytes, sizeCalculation: (body) => body.length });
  }

  /** In memory. */
  get bytes(): number {
    return this.kept.calculatedSize;
  }

  /** Those of the ids that are stored. */
  async existing(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set((await this.documents.getMany(ids)).map(({ id }) => id));
  }

  async store(payloads: readonly PayloadDocument[]): Promise<void> {
    await this.documents.writeMany(payloads.map((document) => ({ kind: 'insert', document })));
  }

  /** Keeps a stored body at hand: its attempts follow at once. */
  keep(id: string, body: string): void {
    if (!this.kept.has(id)) this.kept.set(id, Buffer.from(body));
  }

  /** As bytes, if it is at hand. */
  atHand(id: string): Buffer | undefined {
    return this.kept.get(id);
  }

  async read(id: string): Promise<Buffer | undefined> {
    const document = await this.documents.get(id);
    if (document === undefined) return undefined;
    this.keep(id, document.body);
    return this.kept.get(id) ?? Buffer.from(document.body);
  }
}
