import { createServer, type AddressInfo } from 'node:net';

/** Below the ports that outgoing connections take: one of those might get it while the server that had it is down. */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;
/** Not given out twice by one process, though nobody listens there yet. */
const given = new Set<number>();

/**
 * A loopback port on which nothing listens, for a server that is to come back on it.
 * @param wanted taken where it is one
 */
export async function freePort(wanted?: number): Promise<number> {
  for (let port = wanted ?? anyPort(); ; port = anyPort()) {
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

function anyPort(): number {
  return FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const isListening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port === port));
  });
  if (isListening) await new Promise((resolve) => server.close(resolve));
  return isListening;
}
