import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { linkAddress } from '@tracking/identity-http';
import type { Identity } from '@tracking/identity';
import type { Logger } from '@tracking/ports';
import type { Shutdown } from '@tracking/runtime';

const FILE = 'first-admin-link';
const LOOK_EVERY_MS = 5_000;

export interface FirstAdminLinkOptions {
  readonly firstAdmin: Pick<Identity['firstAdmin'], 'link'>;
  /** What links begin with. */
  readonly appUrl: string;
}

export interface KeptLinkOptions extends FirstAdminLinkOptions {
  readonly dataDir: string;
  readonly logger: Logger;
  /** How often it is looked whether there is an admin, in milliseconds; 5,000 unless told. */
  readonly lookEveryMs?: number;
}

/** A link that makes whoever opens it the first admin. */
export interface FirstAdminLink {
  readonly address: string;
  readonly token: string;
  readonly expires_at: string;
}

/** Undefined where there is an admin. */
export async function firstAdminLink({
  firstAdmin,
  appUrl,
}: FirstAdminLinkOptions): Promise<FirstAdminLink | undefined> {
  const link = await firstAdmin.link();
  return link && { ...link, address: linkAddress(appUrl, link.token) };
}

/**
 * Keeps that link in a file of the data folder, for its owner alone, until there is an admin: nobody reads it at a
 * terminal, and a log is read by many.
 * @returns the file; undefined where there is an admin
 */
export async function keepFirstAdminLink(options: KeptLinkOptions, shutdown: Shutdown): Promise<string | undefined> {
  const { dataDir, logger, lookEveryMs = LOOK_EVERY_MS } = options;
  const file = join(dataDir, FILE);
  let kept: string | undefined;
  const keep = async () => {
    const link = (await firstAdminLink(options))?.address;
    // Nearly at its end it is another one.
    if (link !== undefined && link === kept) return;
    await rm(file, { force: true });
    if (link !== undefined) await writeFile(file, `${link}\n`, { mode: 0o600, flag: 'wx' });
    kept = link;
  };
  await keep();
  if (kept === undefined) return undefined;
  const stopping = new AbortController();
  const { signal } = stopping;
  const keepOn = async () => {
    while (kept !== undefined) {
      await pause(lookEveryMs, undefined, { signal, ref: false });
      await keep().catch((error: unknown) => logger.warn({ file, error: String(error) }, 'link not kept'));
    }
  };
  // Ends with an abort, or with an admin.
  const keeping = keepOn().catch(() => undefined);
  shutdown.add('link of the first admin', async () => {
    stopping.abort();
    await keeping;
  });
  return file;
}
