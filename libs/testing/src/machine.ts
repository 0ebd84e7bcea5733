import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

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

/** Bytes that something still holds beyond those at first: buffers, and the JavaScript heap where that counts too. */
export class Memory {
  most = 0;
  private readonly collect: () => void;
  private readonly before: number;

  constructor(private readonly counts: 'buffers' | 'buffers and heap') {
    setFlagsFromString('--expose-gc');
    this.collect = runInNewContext('gc') as () => void;
    this.before = this.held();
  }

  look(): void {
    this.most = Math.max(this.most, this.held() - this.before);
  }

  private held(): number {
    // Buffers are freed beside the program; the second time waits for what the first began.
    this.collect();
    this.collect();
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    return this.counts === 'buffers' ? arrayBuffers : arrayBuffers + heapUsed;
  }
}

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where this machine has a Chromium: `CHROMIUM`, or where packages put it; undefined where it has none. */
export const CHROMIUM = process.env['CHROMIUM'] ?? PLACES.find((path) => existsSync(path));
/** Flags that let it run in a container, and as root. */
export const CHROMIUM_FLAGS = ['--no-sandbox', '--disable-dev-shm-usage'];
