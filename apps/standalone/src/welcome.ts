import type { FirstAdminLink } from './first-admin.ts';

/** Where everything of a server is. */
export interface Whereabouts {
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

/** A role that makes shipments, posts milestones and manages webhooks, in the test environment. */
const FIRST_KEY = 'npm run --silent cli -- keys create --name first --environment test --role developer';

/** What makes the first key of a server. */
export function firstKeyCommand({ dataDir, isDefaultDataDir }: Whereabouts): string {
  return isDefaultDataDir ? FIRST_KEY : `DATA_DIR=${quoted(dataDir)} ${FIRST_KEY}`;
}

/** What somebody at a terminal is told once the server is there. The lines that are indented by four can be pasted. */
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
