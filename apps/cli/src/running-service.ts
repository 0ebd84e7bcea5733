import { setTimeout as pause } from 'node:timers/promises';
import { existsSync } from 'node:fs';
import { AdministrationClient, isGone } from './administration-client.ts';
import type { CliConfig } from './config.ts';
import { OwnService } from './own-service.ts';

const POLL_MS = 50;
/** What a server that just starts takes from its lock to its socket, or other runs of this tool to get done. */
const PATIENCE_MS = 30_000;

/** @param isServing whether it does what takes longer too: one that was started for this only answers */
type Use<T> = (client: AdministrationClient, isServing: boolean) => Promise<T>;

/**
 * Hands out a client of the service elsewhere where one is named, else of the one on the data folder: of the one that
 * runs, else of one that is started without HTTP for as long as `use` takes, and stopped whatever happens. Where the one
 * that ran stops meanwhile, everything begins again, `use` too.
 * @param note told which data folder that is
 */
export async function withService<T>(
  config: CliConfig,
  signal: AbortSignal,
  note: (line: string) => void,
  use: Use<T>,
): Promise<T> {
  const client = new AdministrationClient(config, signal);
  if (config.remote) return use(client, true);
  note(`data folder: ${config.dataDir}${existsSync(config.dataDir) ? '' : ' (made now)'}`);
  for (const deadline = performance.now() + PATIENCE_MS; ; await pause(POLL_MS, undefined, { signal })) {
    const isLate = performance.now() > deadline;
    const attempt = (await client.status()) ? withRunning : withOwn;
    const done = await attempt({ config, client, signal, isLate, use });
    if (done) return done.result;
  }
}

interface Attempt<T> {
  readonly config: CliConfig;
  readonly client: AdministrationClient;
  readonly signal: AbortSignal;
  /** Whether it is the last one: what fails then is thrown. */
  readonly isLate: boolean;
  readonly use: Use<T>;
}

/** @returns undefined where the service stopped meanwhile */
async function withRunning<T>({ client, isLate, use }: Attempt<T>): Promise<{ readonly result: T } | undefined> {
  try {
    return { result: await use(client, true) };
  } catch (error) {
    if (isLate || !isGone(error)) throw error;
    return undefined;
  }
}

/** @returns undefined where another process took the data folder */
async function withOwn<T>(attempt: Attempt<T>): Promise<{ readonly result: T } | undefined> {
  const { config, client, signal, isLate, use } = attempt;
  const own = new OwnService(config);
  try {
    if (await own.isReady(client, signal)) return { result: await use(client, false) };
    if (isLate) throw own.failure();
    return undefined;
  } finally {
    await own.stop();
  }
}
