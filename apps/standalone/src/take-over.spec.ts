import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { getSocketPath } from '@tracking/contracts';
import { DataFolderInUseError } from '@tracking/embedded';
import { createTempFolder, type TempFolder } from '@tracking/testing';
import { takeOverDataFolder } from './take-over.ts';

describe('takeOver', () => {
  let folder: TempFolder;
  let user: Server;
  let requests: string[];
  let statuses: number[];

  /** Opens the folder once all prepared responses were sent. */
  const open = () =>
    statuses.length === 0 ? Promise.resolve('opened') : Promise.reject(new DataFolderInUseError(folder.path));

  beforeEach(async () => {
    folder = await createTempFolder();
    requests = [];
    user = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      response.writeHead(statuses.shift() ?? 500).end();
    });
    await once(user.listen(getSocketPath(folder.path, tmpdir())), 'listening');
  });
  afterEach(async () => {
    await once(user.close(), 'close');
    await folder.remove();
  });

  it('waits for a process that is ending and refuses requests with 503', async () => {
    statuses = [204, 503];
    await expect(takeOverDataFolder(folder.path, open)).resolves.toBe('opened');
    expect(requests).toEqual(Array(2).fill('POST /administration/release'));
  });

  it('throws at once if a server uses the folder', async () => {
    statuses = [404, 204];
    await expect(takeOverDataFolder(folder.path, open)).rejects.toBeInstanceOf(DataFolderInUseError);
    expect(requests).toHaveLength(1);
  });
});
