import { statfs } from 'node:fs/promises';

/**
 * Returns the bytes that this process can still write to the disk of the folder; undefined if the file system does not
 * report its size.
 */
export async function measureFreeDiskBytes(folder: string): Promise<number | undefined> {
  const { blocks, bavail, bsize } = await statfs(folder);
  return blocks === 0 ? undefined : bavail * bsize;
}
