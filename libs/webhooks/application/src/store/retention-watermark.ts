import type { Timestamp } from '@tracking/contracts';
import type { Collection, CollectionSpec, Document } from '@tracking/ports';

export interface WatermarkDocument extends Document {
  readonly before: Timestamp;
}

export const RETENTION_WATERMARK: CollectionSpec = { name: 'webhook_forgotten', indexes: [] };

const ID = 'deliveries';

/**
 * How far the log of deliveries has been deleted. Of an event created before, nobody can tell any more whether it was
 * delivered; so it is not recorded, however often it is published. It is a time and not a position in the event log: an
 * event that nobody consumed yet may come before one whose deliveries are deleted. Clocks would have to differ by the whole
 * retention for a new event to be taken for so old.
 */
export class RetentionWatermark {
  constructor(private readonly documents: Collection<WatermarkDocument>) {}

  /** The empty text, before every timestamp, where nothing has been deleted. */
  async before(): Promise<Timestamp> {
    return (await this.documents.get(ID))?.before ?? '';
  }

  /** To be stored before the first of these is deleted. */
  async raise(before: Timestamp): Promise<void> {
    await this.documents.upsert({ id: ID, before }, { before: { lt: before } });
  }
}
