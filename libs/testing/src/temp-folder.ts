import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TempFolder {
  readonly path: string;
  /** With everything in it. */
  remove(): Promise<void>;
}

/** A new, empty folder of this test's own. */
export async function tempFolder(): Promise<TempFolder> {
  const path = await mkdtemp(join(tmpdir(), 'tracking-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
