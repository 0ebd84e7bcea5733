import { createHash } from 'node:crypto';
import type { Collection } from '@tracking/ports';
import type { ReadModelRow } from './read-model.ts';

const DIGEST_PAGE_ROWS = 1_000;

export interface RowDigest {
  readonly generation: number;
  readonly rows: number;
  /** SHA-256 of all rows in id order, in hex. The members of each object are sorted by name. */
  readonly sha256: string;
}

/**
 * Computes a digest of all rows. Equal rows have equal digests in every engine and generation. Rows must not change
 * during the computation.
 */
export async function computeDigestOfAllRows(rows: Collection<ReadModelRow>, generation: number): Promise<RowDigest> {
  const hash = createHash('sha256');
  let count = 0;
  let after: readonly string[] | undefined;
  for (;;) {
    const page = await rows.find({
      filter: {},
      sort: { fields: ['id'] },
      limit: DIGEST_PAGE_ROWS,
      ...(after && { after }),
    });
    for (const row of page) hash.update(`${toCanonicalJson(row)}\n`);
    count += page.length;
    const last = page[page.length - 1];
    if (page.length < DIGEST_PAGE_ROWS || !last) return { generation, rows: count, sha256: hash.digest('hex') };
    after = [last.id];
  }
}

function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
