import { createHash } from 'node:crypto';
import { createReadStream, openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import type { DocumentUpload } from './documents.ts';

/**
 * Opens a local file for `documents.upload`. The file is read while it is sent, so memory does not depend on its size.
 */
export async function fileFrom(path: string): Promise<Pick<DocumentUpload, 'checksum_sha256' | 'file' | 'file_name'>> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return { file: await openAsBlob(path), file_name: basename(path), checksum_sha256: hash.digest('hex') };
}
