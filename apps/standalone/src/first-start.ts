import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Identity } from '@tracking/identity';
import { linkAddress } from '@tracking/identity-http';
import type { Logger } from '@tracking/ports';
import type { Shutdown } from '@tracking/runtime';
import type { StandaloneConfig } from './config.ts';
import type { Standalone } from './standalone.ts';

/** A role that makes shipments, posts milestones and manages webhooks, in the test environment. */
const FIRST_KEY = 'npm run --silent cli -- keys create --name first --environment test --role developer';
const FILE = 'first-admin-link';
const CHECK_INTERVAL_MS = 5_000;

/** Says where everything is, once it is there: to people at a terminal, or in a line of the log. */
export async function sayListening(config: StandaloneConfig, standalone: Standalone, logger: Logger): Promise<void> {
  const { url, managementUrl, shutdown } = standalone;
  if (url === undefined || managementUrl === undefined) return;
  const { dataDir, webhooks } = config;
  const isDefaultDataDir = dataDir === resolve('data');
  const allowsLocalReceivers = webhooks.allowedCidrs.length > 0;
  const where = { url, managementUrl, dataDir, isDefaultDataDir, allowsLocalReceivers };
  if (process.stdout.isTTY) {
    process.stdout.write(welcome({ ...where, firstAdminLink: await firstAdminLink(standalone) }));
    return;
  }
  const first_admin_link_file = await keepFirstAdminLink({ ...standalone, dataDir, logger }, shutdown);
  const fields = { url, docs: `${url}/docs`, management_url: managementUrl, data_dir: dataDir };
  const first = { make_a_key_with: firstKeyCommand(where), ...(first_admin_link_file && { first_admin_link_file }) };
  logger.info({ ...fields, ...first }, 'listening');
}

/** Where everything of a server is. */
interface Whereabouts {
  readonly url: string;
  readonly managementUrl: string;
  readonly dataDir: string;
  /** Whether the command line finds this data folder without being told. */
  readonly isDefaultDataDir: boolean;
  /** Whether webhooks may go to this machine. */
  readonly allowsLocalReceivers: boolean;
  /** None where there is an admin. */
  readonly firstAdminLink?: FirstAdminLink | undefined;
}

/** The command that creates the first key of a server. */
export function firstKeyCommand({ dataDir, isDefaultDataDir }: Whereabouts): string {
  return isDefaultDataDir ? FIRST_KEY : `DATA_DIR=${quoted(dataDir)} ${FIRST_KEY}`;
}

/** The text for a terminal once the server listens. Lines that are indented by four spaces can be pasted. */
export function welcome(where: Whereabouts): string {
  const { url, managementUrl, dataDir, allowsLocalReceivers, firstAdminLink } = where;
  return `
  API            ${url}
  Documentation  ${url}/docs
  Metrics        ${managementUrl}/metrics
  Data           ${dataDir}
${firstAdminLink === undefined ? '' : firstAdmin(url, firstAdminLink)}
  In a second terminal, make a key and the first shipment:

    KEY=$(${firstKeyCommand(where)})
    curl -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' ${url}/v1/shipments -d '{"external_id": "PO-1001", "mode": "ocean"}'

  ${
    allowsLocalReceivers
      ? `Webhooks may go to this machine, for development: npm run listen -- --key "$KEY" shows them.`
      : 'Webhooks go to public addresses only: to try them on this machine, start with npm run dev instead.'
  }
  Ctrl-C stops it.

`;
}

/** How somebody becomes the first admin. What can be pasted wants an e-mail, a name and a password of their own. */
function firstAdmin(url: string, { address, token, expires_at }: FirstAdminLink): string {
  return `
  Nobody is an admin yet. Whoever has this one-time link becomes the first one, until ${expires_at.slice(0, 10)}:

      ${address}

  It is used with an e-mail, a name and a password of yours, as here with curl:

      curl -H 'X-Requested-With: curl' -H 'Content-Type: application/json' ${url}/v1/invitations/${token} -d '{"email": "ann@example.com", "name": "Ann", "password": "a quiet harbour"}'
`;
}

function quoted(path: string): string {
  return /^[\w/.-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

interface FirstAdminLinkOptions {
  readonly firstAdmin: Pick<Identity['firstAdmin'], 'link'>;
  /** Beginning of the links. */
  readonly appUrl: string;
}

interface KeptLinkOptions extends FirstAdminLinkOptions {
  readonly dataDir: string;
  readonly logger: Logger;
  /** How often it is looked whether there is an admin, in milliseconds; 5,000 unless told. */
  readonly lookEveryMs?: number;
}

/** A link that makes whoever opens it the first admin. */
interface FirstAdminLink {
  readonly address: string;
  readonly token: string;
  readonly expires_at: string;
}

/** Undefined where there is an admin. */
async function firstAdminLink({ firstAdmin, appUrl }: FirstAdminLinkOptions): Promise<FirstAdminLink | undefined> {
  const link = await firstAdmin.link();
  return link && { ...link, address: linkAddress(appUrl, link.token) };
}

/**
 * Keeps that link in a file of the data folder, for its owner alone, until there is an admin: nobody reads it at a
 * terminal, and a log is read by many.
 * @returns the file; undefined where there is an admin
 */
export async function keepFirstAdminLink(options: KeptLinkOptions, shutdown: Shutdown): Promise<string | undefined> {
  const { dataDir, logger, lookEveryMs = CHECK_INTERVAL_MS } = options;
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
