import { fileURLToPath } from 'node:url';

/** What it prints once it serves; the group is the address of its switches. */
const READY = /ready on .* control (\S+)/;

export interface StandInOptions {
  /** Whether it offers the call `BatchAppend`, as a node of today does; true by default. */
  readonly batchAppend?: boolean;
  /** Milliseconds between the statistics that a node can be told to write into its own log; 0, none, by default. */
  readonly statsEvery?: number;
  /** Events that a live subscription may fall behind while its client takes nothing; 1,000 by default. */
  readonly liveBuffer?: number;
  /** Milliseconds it serves on after SIGTERM; 5,000 by default, as a node does. */
  readonly linger?: number;
}

export interface StandInPlace extends StandInOptions {
  /** Keeps its data. */
  readonly folder: string;
  readonly port: number;
  /** Where its switches are; any free port by default. */
  readonly controlPort?: number;
}

/** How to start it, as it was built. */
export function standInCommand({ batchAppend = true, ...place }: StandInPlace) {
  const settings = {
    folder: place.folder,
    port: place.port,
    'control-port': place.controlPort,
    'stats-every': place.statsEvery,
    'live-buffer': place.liveBuffer,
    linger: place.linger,
  };
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return {
    command: process.execPath,
    args: [
      fileURLToPath(new URL('../dist/main.js', import.meta.url)),
      ...given.map(([name, value]) => `--${name}=${value}`),
      ...(batchAppend ? [] : ['--no-batch-append']),
    ],
    ready: READY,
  };
}
