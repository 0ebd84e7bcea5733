import { createTempFolder } from '@tracking/testing';
import { measureFreeDiskBytes } from './disk-space.ts';

describe('free bytes of a disk', () => {
  it('are measured for the disk of the folder', async () => {
    const folder = await createTempFolder();
    expect(await measureFreeDiskBytes(folder.path)).toBeGreaterThan(0);
    await folder.remove();
  });

  // The file system of /proc has no size.
  (process.platform === 'linux' ? it : it.skip)('are unknown if the file system does not report its size', async () => {
    expect(await measureFreeDiskBytes('/proc')).toBeUndefined();
  });
});
