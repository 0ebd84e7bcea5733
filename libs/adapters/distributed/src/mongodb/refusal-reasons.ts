import { MongoServerError, MongoServerSelectionError, type TopologyDescription } from 'mongodb';

const MONGO_UNAUTHORIZED_CODE = 13;
const AUTHENTICATION_FAILED_CODE = 18;
/** Pattern of codes for a certificate that the client does not trust. */
const UNTRUSTED_CERTIFICATE_CODE_PATTERN = /CERT|SIGNATURE|ISSUER|ALTNAME|CRL|CHAIN/;
const MAX_INSPECTED_CAUSES = 10;

/**
 * Returns the reason why MongoDB refuses this process until settings change; undefined for other errors. The driver
 * reports many refusals like servers that are down.
 */
export function explainMongoDbRefusal(error: unknown): string | undefined {
  if (error instanceof MongoServerError) return explainMongoServerRefusal(error);
  const code = getSystemErrorCode(error);
  if (isFileOpenError(error)) return `a file that the connection string names cannot be read (${code})`;
  if (code !== undefined && UNTRUSTED_CERTIFICATE_CODE_PATTERN.test(code))
    return `the certificate of the server is not trusted (${code}); tlsCAFile must name the certificate of its authority`;
  return isEmptyReplicaSetError(error)
    ? 'no host of the connection string belongs to its replica set; replicaSet has another name, or the server is standalone'
    : undefined;
}

/**
 * Returns the code of the error of Node.js that caused an error of the driver, such as ECONNREFUSED; undefined if there
 * is none.
 */
export function getSystemErrorCode(error: unknown): string | undefined {
  let causes: readonly unknown[] = [error];
  for (let depth = 0; depth < MAX_INSPECTED_CAUSES; depth += 1) {
    const codes = causes.flatMap((cause) => (isSystemError(cause) ? cause.code : []));
    if (codes.length > 0) return codes[0];
    causes = causes.flatMap(listErrorCauses);
  }
  return undefined;
}

function explainMongoServerRefusal({ code, message }: MongoServerError): string | undefined {
  if (code === AUTHENTICATION_FAILED_CODE)
    return 'the server refuses the user name or the password; authSource must name the database of the user';
  if (code !== MONGO_UNAUTHORIZED_CODE) return undefined;
  return /requires authentication/.test(message)
    ? 'the server requires a user name and a password'
    : 'the user lacks permissions on the database; grant the role readWrite';
}

function isSystemError(error: unknown): error is { readonly code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && /^[A-Z0-9_]+$/.test(error.code);
}

function isFileOpenError(error: unknown): boolean {
  return isSystemError(error) && 'path' in error && 'syscall' in error && error.syscall === 'open';
}

function listErrorCauses(error: unknown): readonly unknown[] {
  if (!(error instanceof Error)) return [];
  const servers = error instanceof MongoServerSelectionError ? getTopologyOfSelectionError(error).servers : new Map();
  return [error.cause, ...[...servers.values()].map((server) => server.error as unknown)];
}

/** A server that does not belong to the replica set of the connection string is removed from the topology. */
function isEmptyReplicaSetError(error: unknown): boolean {
  if (!(error instanceof MongoServerSelectionError)) return false;
  const { setName, servers } = getTopologyOfSelectionError(error);
  return setName !== null && servers.size === 0;
}

function getTopologyOfSelectionError({
  reason,
}: MongoServerSelectionError): Pick<TopologyDescription, 'setName' | 'servers'> {
  return reason ?? { setName: null, servers: new Map() };
}
