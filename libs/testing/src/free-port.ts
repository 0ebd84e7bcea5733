import { createServer, type AddressInfo } from 'node:net';

/** Below the ports that outgoing connections take: one of those might get it while the server that had it is down. */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;
/** Not given out twice by one process, though nobody listens there yet. */
const given = new Set<number>();

/** A loopback port on which nothing listens, for a server that is to come back on it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
    if (given.has(port)) continue;
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port === port));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    given.add(port);
    return port;
  }
}
