import type { Timestamp } from '@tracking/contracts';
import type { Collection, CollectionSpec, Document } from '@tracking/ports';

export interface ForgottenDocument extends Document {
  readonly before: Timestamp;
}

export const FORGOTTEN: CollectionSpec = { name: 'webhook_forgotten', indexes: [] };

const ID = 'deliveries';

/**
 * How far the log of deliveries has been deleted. Of an event created before, nobody can tell any more whether it was
 * delivered; so it is not recorded again, however often it is published. In time and not by its place in the log, where one
 * that nobody consumed yet may lie before one that is forgotten. Clocks would have to differ by the whole retention for
 * anything new to be taken for so old.
 */
export class Forgotten {
  constructor(private readonly documents: Collection<ForgottenDocument>) {}

  /** The empty text, before every timestamp, where nothing has been deleted. */
  async before(): Promise<Timestamp> {
    return (await this.documents.get(ID))?.before ?? '';
  }

  /** To be stored before the first of these is deleted. */
  async raise(before: Timestamp): Promise<void> {
    await this.documents.upsert({ id: ID, before }, { before: { lt: before } });
  }
}
