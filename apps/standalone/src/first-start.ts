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
const CREATE_FIRST_KEY_COMMAND = 'npm run --silent cli -- keys create --name first --environment test --role developer';
const LINK_FILE_NAME = 'first-admin-link';
const CHECK_INTERVAL_MS = 5_000;

/** Says where everything is, once it is there: to people at a terminal, or in a line of the log. */
export async function announceStart(config: StandaloneConfig, standalone: Standalone, logger: Logger): Promise<void> {
  const { url, managementUrl, shutdown } = standalone;
  if (url === undefined || managementUrl === undefined) return;
  const { dataDir, webhooks } = config;
  const isDefaultDataDir = dataDir === resolve('data');
  const allowsLocalReceivers = webhooks.allowedCidrs.length > 0;
  const addresses = { url, managementUrl, dataDir, isDefaultDataDir, allowsLocalReceivers };
  if (process.stdout.isTTY) {
    process.stdout.write(formatWelcome({ ...addresses, firstAdminLink: await createFirstAdminLink(standalone) }));
    return;
  }
  const first_admin_link_file = await maintainLinkFile({ ...standalone, dataDir, logger }, shutdown);
  const fields = { url, docs: `${url}/docs`, management_url: managementUrl, data_dir: dataDir };
  const first = {
    make_a_key_with: firstKeyCommand(addresses),
    ...(first_admin_link_file && { first_admin_link_file }),
  };
  logger.info({ ...fields, ...first }, 'listening');
}

/** Where everything of a server is. */
interface ServerAddresses {
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
export function firstKeyCommand({ dataDir, isDefaultDataDir }: ServerAddresses): string {
  return isDefaultDataDir ? CREATE_FIRST_KEY_COMMAND : `DATA_DIR=${quoteForShell(dataDir)} ${CREATE_FIRST_KEY_COMMAND}`;
}

/** The text for a terminal once the server listens. Lines that are indented by four spaces can be pasted. */
export function formatWelcome(where: ServerAddresses): string {
  const { url, managementUrl, dataDir, allowsLocalReceivers, firstAdminLink } = where;
  return `
  API            ${url}
  Documentation  ${url}/docs
  Metrics        ${managementUrl}/metrics
  Data           ${dataDir}
${firstAdminLink === undefined ? '' : formatFirstAdminHelp(url, firstAdminLink)}
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
function formatFirstAdminHelp(url: string, { address, token, expires_at }: FirstAdminLink): string {
  return `
  Nobody is an admin yet. Whoever has this one-time link becomes the first one, until ${expires_at.slice(0, 10)}:

      ${address}

  It is used with an e-mail, a name and a password of yours, as here with curl:

      curl -H 'X-Requested-With: curl' -H 'Content-Type: application/json' ${url}/v1/invitations/${token} -d '{"email": "ann@example.com", "name": "Ann", "password": "a quiet harbour"}'
`;
}

function quoteForShell(path: string): string {
  return /^[\w/.-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

interface FirstAdminLinkOptions {
  readonly firstAdmin: Pick<Identity['firstAdmin'], 'link'>;
  /** Beginning of the links. */
  readonly appUrl: string;
}

interface LinkFileOptions extends FirstAdminLinkOptions {
  readonly dataDir: string;
  readonly logger: Logger;
  /** How often it is looked whether there is an admin, in milliseconds; 5,000 unless told. */
  readonly checkIntervalMs?: number;
}

/** A link that makes whoever opens it the first admin. */
interface FirstAdminLink {
  readonly address: string;
  readonly token: string;
  readonly expires_at: string;
}

/** Undefined where there is an admin. */
async function createFirstAdminLink({
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
export async function maintainLinkFile(options: LinkFileOptions, shutdown: Shutdown): Promise<string | undefined> {
  const { dataDir, logger, checkIntervalMs: checkIntervalMs = CHECK_INTERVAL_MS } = options;
  const file = join(dataDir, LINK_FILE_NAME);
  let storedLink: string | undefined;
  const updateFile = async () => {
    const link = (await createFirstAdminLink(options))?.address;
    // Nearly at its end it is another one.
    if (link !== undefined && link === storedLink) return;
    await rm(file, { force: true });
    if (link !== undefined) await writeFile(file, `${link}\n`, { mode: 0o600, flag: 'wx' });
    storedLink = link;
  };
  await updateFile();
  if (storedLink === undefined) return undefined;
  const stopping = new AbortController();
  const { signal } = stopping;
  const updateRepeatedly = async () => {
    while (storedLink !== undefined) {
      await pause(checkIntervalMs, undefined, { signal, ref: false });
      await updateFile().catch((error: unknown) => logger.warn({ file, error: String(error) }, 'link not kept'));
    }
  };
  // Ends with an abort, or with an admin.
  const updating = updateRepeatedly().catch(() => undefined);
  shutdown.add('link of the first admin', async () => {
    stopping.abort();
    await updating;
  });
  return file;
}
