import { createHash } from 'node:crypto';
import type { Collection } from '@tracking/ports';
import type { ReadModelRow } from './read-model.ts';

const PAGE = 1_000;

export interface Digest {
  readonly generation: number;
  readonly rows: number;
  /** SHA-256, in hex, over all rows in the order of their ids, members of objects in the order of their names. */
  readonly sha256: string;
}

/** Equal for equal content, whatever engine or generation holds it. Only of use while nothing is written. */
export async function digest(rows: Collection<ReadModelRow>, generation: number): Promise<Digest> {
  const hash = createHash('sha256');
  let count = 0;
  let after: readonly string[] | undefined;
  for (;;) {
    const page = await rows.find({ filter: {}, sort: { fields: ['id'] }, limit: PAGE, ...(after && { after }) });
    for (const row of page) hash.update(`${canonical(row)}\n`);
    count += page.length;
    const last = page[page.length - 1];
    if (page.length < PAGE || !last) return { generation, rows: count, sha256: hash.digest('hex') };
    after = [last.id];
  }
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
