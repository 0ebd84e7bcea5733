import type { CollectionSpec, Logger, Metrics } from '@tracking/ports';

/** Report of the child: an append or an upsert was acknowledged. */
export type WriteReport =
  | { readonly stream: string; readonly revision: number; readonly append: string }
  | { readonly collection: keyof typeof CHILD_COLLECTIONS; readonly id: string; readonly version: number };

export interface ChildDocument {
  readonly id: string;
  readonly version: number;
  readonly words: readonly string[];
}

const indexes = [
  { name: 'by_version', fields: ['version', 'id'] },
  { name: 'by_word', fields: ['words'], arrayField: 'words' },
];
export const CHILD_COLLECTIONS = {
  records: { name: 'records', indexes },
  views: { name: 'views', indexes, durability: 'derived' },
} as const satisfies Record<string, CollectionSpec>;

const noop = () => undefined;
const logger: Logger = { debug: noop, info: noop, warn: noop, error: noop };
const metrics: Metrics = {
  counter: () => ({ add: noop }),
  gauge: () => ({ set: noop }),
  histogram: () => ({ observe: noop }),
};
/** Copied from the testing library, which processes outside Jest cannot load. */
export const quiet = { logger, metrics };
