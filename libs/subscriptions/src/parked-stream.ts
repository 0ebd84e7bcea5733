import type { CollectionSpec, Document } from '@tracking/ports';

/** A stream that waits, for one generation of one subscriber, because an event of it could not be handled. */
export interface ParkedStream extends Document {
  readonly subscriber: string;
  readonly generation: number;
  readonly partition: string;
  readonly stream: string;
  /** Of the event that could not be handled; the later ones of the stream wait behind it. */
  readonly revision: number;
  readonly event_type: string;
  /** What it threw, without the event's data. */
  readonly error: string;
  readonly parked_at: string;
  /** How often it was tried. */
  readonly attempts: number;
  /** Whether another attempt was asked for. */
  readonly retry: boolean;
}

export const PARKED: CollectionSpec = {
  name: 'parked_streams',
  indexes: [
    { name: 'by_partition', fields: ['subscriber', 'generation', 'partition', 'id'] },
    { name: 'by_subscriber', fields: ['subscriber', 'id'] },
    { name: 'by_retry', fields: ['subscriber', 'generation', 'retry'] },
  ],
  durability: 'derived',
};

/** The error's name and message: of programming and of the domain, never the event's data. */
export function describe(error: unknown): string {
  return (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 300);
}
