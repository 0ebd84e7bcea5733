import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { IdentityServices } from '@tracking/identity';
import { createOneTimeLinkUrl } from '@tracking/identity-http';
import type { Logger } from '@tracking/ports';
import type { Shutdown } from '@tracking/runtime';
import type { StandaloneConfig } from './config.ts';
import type { RunningStandaloneServer } from './standalone.ts';

/**
 * Command that creates a key for the test environment. The role of the key can create shipments, record milestones and
 * manage webhooks.
 */
const CREATE_FIRST_KEY_COMMAND = 'npm run --silent cli -- keys create --name first --environment test --role developer';
const FIRST_ADMIN_LINK_FILE_NAME = 'first-admin-link';
const FIRST_ADMIN_LINK_RENEWAL_INTERVAL_MS = 5_000;

/** Announces the server's addresses once it listens: as text at a terminal, otherwise in a log line. */
export async function printOrLogServerAddresses(
  config: StandaloneConfig,
  standalone: RunningStandaloneServer,
  logger: Logger,
): Promise<void> {
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
  const first_admin_link_file = await keepFirstAdminLinkFileCurrent({ ...standalone, dataDir, logger }, shutdown);
  const fields = { url, docs: `${url}/docs`, management_url: managementUrl, data_dir: dataDir };
  const first = {
    make_a_key_with: formatFirstKeyCommand(addresses),
    ...(first_admin_link_file && { first_admin_link_file }),
  };
  logger.info({ ...fields, ...first }, 'listening');
}

/** Addresses and folder of a server. */
interface ServerUrlAndDataFolder {
  readonly url: string;
  readonly managementUrl: string;
  readonly dataDir: string;
  /** True if the command line uses this data folder by default. */
  readonly isDefaultDataDir: boolean;
  /** True if webhooks may be sent to this machine. */
  readonly allowsLocalReceivers: boolean;
  /** Link for the first admin; undefined if the workspace has an admin. */
  readonly firstAdminLink?: FirstAdminLinkInfo | undefined;
}

/** Returns the command that creates the first API key of a server. */
export function formatFirstKeyCommand({ dataDir, isDefaultDataDir }: ServerUrlAndDataFolder): string {
  return isDefaultDataDir ? CREATE_FIRST_KEY_COMMAND : `DATA_DIR=${quoteForShell(dataDir)} ${CREATE_FIRST_KEY_COMMAND}`;
}

/**
 * Returns the text that a terminal shows when the server listens. Readers can paste lines that are indented by four
 * spaces.
 */
export function formatWelcome(where: ServerUrlAndDataFolder): string {
  const { url, managementUrl, dataDir, allowsLocalReceivers, firstAdminLink } = where;
  return `
  API            ${url}
  Documentation  ${url}/docs
  Metrics        ${managementUrl}/metrics
  Data           ${dataDir}
${firstAdminLink === undefined ? '' : formatFirstAdminHelp(url, firstAdminLink)}
  In a second terminal, create an API key and the first shipment:

    KEY=$(${formatFirstKeyCommand(where)})
    curl -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' ${url}/v1/shipments -d '{"external_id": "PO-1001", "mode": "ocean"}'

  ${
    allowsLocalReceivers
      ? `Webhooks may be sent to this machine, for development: npm run listen -- --key "$KEY" shows them.`
      : 'Webhooks are sent to public addresses only. To try them on this machine, start with npm run dev instead.'
  }
  Press Ctrl-C to stop.

`;
}

/**
 * Returns instructions for becoming the first admin. Readers must replace e-mail, name and password in the pasted
 * command.
 */
function formatFirstAdminHelp(url: string, { address, token, expires_at }: FirstAdminLinkInfo): string {
  return `
  There is no admin yet. Open this one-time link to become the first admin. It is valid until ${expires_at.slice(0, 10)}:

      ${address}

  Or use it with curl, with your own e-mail, name and password:

      curl -H 'X-Requested-With: curl' -H 'Content-Type: application/json' ${url}/v1/invitations/${token} -d '{"email": "ann@example.com", "name": "Ann", "password": "a quiet harbour"}'
`;
}

function quoteForShell(path: string): string {
  return /^[\w/.-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

interface FirstAdminLinkOptions {
  readonly firstAdmin: Pick<IdentityServices['firstAdmin'], 'getFirstAdminLink'>;
  /** Base URL of the links. */
  readonly appUrl: string;
}

interface FirstAdminLinkFileOptions extends FirstAdminLinkOptions {
  readonly dataDir: string;
  readonly logger: Logger;
  /** Milliseconds between checks for an admin; 5,000 by default. */
  readonly checkIntervalMs?: number;
}

/** One-time link whose user becomes the first admin. */
interface FirstAdminLinkInfo {
  readonly address: string;
  readonly token: string;
  readonly expires_at: string;
}

/** Creates the link for the first admin; undefined if the workspace has an admin. */
async function createFirstAdminLink({
  firstAdmin,
  appUrl,
}: FirstAdminLinkOptions): Promise<FirstAdminLinkInfo | undefined> {
  const link = await firstAdmin.getFirstAdminLink();
  return link && { ...link, address: createOneTimeLinkUrl(appUrl, link.token) };
}

/**
 * Keeps the first admin's link in a file of the data folder until there is an admin. Only the file's owner can read it.
 * The file replaces the terminal output, because a log has many readers.
 * @returns the path of the file; undefined if there is an admin
 */
export async function keepFirstAdminLinkFileCurrent(
  options: FirstAdminLinkFileOptions,
  shutdown: Shutdown,
): Promise<string | undefined> {
  const { dataDir, logger, checkIntervalMs = FIRST_ADMIN_LINK_RENEWAL_INTERVAL_MS } = options;
  const file = join(dataDir, FIRST_ADMIN_LINK_FILE_NAME);
  let storedLink: string | undefined;
  const updateFile = async () => {
    const link = (await createFirstAdminLink(options))?.address;
    // Another link replaces the link shortly before it expires.
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
      await updateFile().catch((error: unknown) =>
        logger.warn(
          { file, error: String(error) },
          'first admin: the file with the one-time link could not be updated',
        ),
      );
    }
  };
  // The task ends when the server stops or the workspace has an admin.
  const updating = updateRepeatedly().catch(() => undefined);
  shutdown.addShutdownStep('first admin link', async () => {
    stopping.abort();
    await updating;
  });
  return file;
}
