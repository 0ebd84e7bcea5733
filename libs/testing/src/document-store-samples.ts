import { randomUUID } from 'node:crypto';
import { DuplicateKeyError, type CollectionSpec } from '@tracking/ports';

/** A document with one field of each kind that a store treats differently. */
export interface SampleDocument {
  readonly id: string;
  readonly owner?: string | null;
  readonly code?: string | null;
  readonly rank?: number | string | boolean | null;
  readonly made_at?: string;
  readonly words?: readonly string[];
  readonly aliases?: readonly string[];
  readonly open?: boolean;
  readonly version?: number;
  readonly note?: string | null;
  readonly deep?: { readonly rank: number };
}

/** Specification of a new collection. `note`, `open` and `deep` are in no index. */
export function createSampleCollectionSpec(overrides: Partial<CollectionSpec> = {}): CollectionSpec {
  return {
    name: `t${randomUUID().replaceAll('-', '')}.things-v1`,
    indexes: [
      { name: 'by_owner', fields: ['owner', 'made_at', 'id'] },
      { name: 'by_rank', fields: ['rank'] },
      { name: 'by_code', fields: ['owner', 'code'], unique: true },
      { name: 'by_alias', fields: ['owner', 'aliases'], arrayField: 'aliases', unique: true },
      { name: 'by_word', fields: ['owner', 'words', 'made_at', 'id'], arrayField: 'words' },
      { name: 'by_version', fields: ['owner', 'version', 'id'], only: 'version' },
    ],
    ...overrides,
  };
}

export function listIds(documents: readonly { readonly id: string }[]): string[] {
  return documents.map(({ id }) => id);
}

/** Expects that the unique index with this name refuses the write. */
export async function expectDuplicateKey(write: Promise<unknown>, collection: string, index: string): Promise<void> {
  const error: unknown = await write.then(
    () => 'the document was written',
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DuplicateKeyError);
  expect(error).toMatchObject({ collection, index });
}
