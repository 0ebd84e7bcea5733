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

const nothing = () => undefined;
const logger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const metrics: Metrics = {
  counter: () => ({ add: nothing }),
  gauge: () => ({ set: nothing }),
  histogram: () => ({ observe: nothing }),
};
/** Copied from the testing library, which processes outside Jest cannot load. */
export const quiet = { logger, metrics };
