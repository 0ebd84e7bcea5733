import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface TempFolder {
  readonly path: string;
  /** Removes the folder with its content. */
  remove(): Promise<void>;
}

/** Creates a new, empty temporary folder. */
export async function createTempFolder(): Promise<TempFolder> {
  const path = await mkdtemp(join(tmpdir(), 'tracking-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/**
 * Lowest port for test servers. The range is below the ports of outgoing connections, which could otherwise take the
 * port of a server that is down.
 */
const MIN_TEST_SERVER_PORT = 20_000;
const MAX_TEST_PORT = 32_000;
/** Ports that this process has already returned. A server may not listen on them yet. */
const networkPortsReturnedSoFar = new Set<number>();

/**
 * Returns a loopback port on which nothing listens, for a server that will restart on it.
 * @param wanted preferred port, returned if it is free
 */
export async function findFreePort(wanted?: number): Promise<number> {
  for (let port = wanted ?? chooseRandomPort(); ; port = chooseRandomPort()) {
    if (networkPortsReturnedSoFar.has(port) || !(await isPortFree(port))) continue;
    networkPortsReturnedSoFar.add(port);
    return port;
  }
}

function chooseRandomPort(): number {
  return MIN_TEST_SERVER_PORT + Math.floor(Math.random() * (MAX_TEST_PORT - MIN_TEST_SERVER_PORT));
}

async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  const isListening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port === port));
  });
  if (isListening) await new Promise((resolve) => server.close(resolve));
  return isListening;
}

/** Measures how many bytes are held since the start: buffers, and optionally the JavaScript heap. */
export class MemoryMeter {
  peakBytes = 0;
  private readonly collect: () => void;
  private readonly before: number;

  constructor(private readonly counts: 'buffers' | 'buffers and heap') {
    setFlagsFromString('--expose-gc');
    this.collect = runInNewContext('gc') as () => void;
    this.before = this.measureHeldMemoryBytes();
  }

  sampleMemory(): void {
    this.peakBytes = Math.max(this.peakBytes, this.measureHeldMemoryBytes() - this.before);
  }

  private measureHeldMemoryBytes(): number {
    // Buffers are freed asynchronously. The second collection waits for the first one.
    this.collect();
    this.collect();
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    return this.counts === 'buffers' ? arrayBuffers : arrayBuffers + heapUsed;
  }
}

const CHROMIUM_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Path of Chromium on this machine: `CHROMIUM`, or the path used by packages; undefined if it is not installed. */
export const CHROMIUM_PATH = process.env['CHROMIUM'] ?? CHROMIUM_PATHS.find((path) => existsSync(path));
/** Flags that allow Chromium to run in a container and as root. */
export const CHROMIUM_FLAGS = ['--no-sandbox', '--disable-dev-shm-usage'];
