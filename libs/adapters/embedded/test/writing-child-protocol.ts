import type { CollectionSpec, Logger, Metrics } from '@tracking/ports';

/** Report of the child: an append or an upsert was acknowledged. */
export type WriteReport =
  | { readonly stream: string; readonly revision: number; readonly append: string }
  | { readonly collection: keyof typeof CHILD_PROCESS_COLLECTIONS; readonly id: string; readonly version: number };

export interface DocumentWrittenByChild {
  readonly id: string;
  readonly version: number;
  readonly words: readonly string[];
}

const childProcessCollectionIndexes = [
  { name: 'by_version', fields: ['version', 'id'] },
  { name: 'by_word', fields: ['words'], arrayField: 'words' },
];
export const CHILD_PROCESS_COLLECTIONS = {
  records: { name: 'records', indexes: childProcessCollectionIndexes },
  views: { name: 'views', indexes: childProcessCollectionIndexes, durability: 'derived' },
} as const satisfies Record<string, CollectionSpec>;

const doNothing = () => undefined;
const silentLogger: Logger = { debug: doNothing, info: doNothing, warn: doNothing, error: doNothing };
const silentMetrics: Metrics = {
  createCounter: () => ({ add: doNothing }),
  createGauge: () => ({ set: doNothing }),
  createHistogram: () => ({ observe: doNothing }),
};
/** The child has its own copy of the silent logger, because processes outside Jest cannot load the testing library. */
export const silentTelemetry = { logger: silentLogger, metrics: silentMetrics };
