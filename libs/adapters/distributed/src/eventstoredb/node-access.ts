import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import { EngineAccessRefusedError } from '@tracking/ports';
import { type ConnectionStringParts, findConnectionOption, listNodeAddresses } from './connection-string.ts';
import { ENGINE_NAME } from './node-connection.ts';

/** Milliseconds for a TLS handshake with one node. */
const HANDSHAKE_TIMEOUT_MS = 2_000;
/** Codes of errors of Node.js and OpenSSL for a node that does not use TLS. */
const NO_TLS_CODES: ReadonlySet<string> = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);
/** Matches the codes of errors for a certificate that the client does not trust. */
const UNTRUSTED_CERTIFICATE_CODE_PATTERN = /CERT|SIGNATURE|ISSUER|ALTNAME|CRL|CHAIN/;

/** Result of a TLS handshake: the certificate was accepted, or the code of the error. */
type Handshake = 'trusted' | { readonly code: string };

export function usesTls({ options }: ConnectionStringParts): boolean {
  return findConnectionOption(options, 'tls') !== 'false';
}

/**
 * Throws an error that names the reason if the TLS settings fit no node that responds. The client reports such nodes
 * like nodes that are down.
 * @throws EngineAccessRefusedError
 */
export async function throwIfNoNodeAcceptsTls(connectionString: ConnectionStringParts): Promise<void> {
  const { options } = connectionString;
  const rejectUnauthorized = usesTls(connectionString);
  const caFile = findConnectionOption(options, 'tlsCaFile');
  const trust: ConnectionOptions = rejectUnauthorized && caFile ? { ca: await readFile(caFile) } : {};
  const handshakes = await Promise.all(
    listNodeAddresses(connectionString).map(({ host, port }) =>
      performTlsHandshake({ host, port, ...trust, rejectUnauthorized, ...(isIP(host) === 0 && { servername: host }) }),
    ),
  );
  if (rejectUnauthorized && handshakes.includes('trusted')) return;
  const reason = handshakes
    .map((handshake) => explainTlsHandshakeProblem(handshake, rejectUnauthorized))
    .find((explanation) => explanation !== undefined);
  if (reason !== undefined) throw new EngineAccessRefusedError(ENGINE_NAME, reason);
}

function explainTlsHandshakeProblem(handshake: Handshake, isTlsWanted: boolean): string | undefined {
  if (!isTlsWanted) return handshake === 'trusted' ? 'the node requires TLS, which tls=false turns off' : undefined;
  if (handshake === 'trusted') return undefined;
  const { code } = handshake;
  if (NO_TLS_CODES.has(code)) return 'the node does not use TLS; set tls=false only on a network that you trust';
  if (!UNTRUSTED_CERTIFICATE_CODE_PATTERN.test(code)) return undefined;
  return `the certificate of the node is not trusted (${code}); tlsCaFile must name the certificate of its authority`;
}

function performTlsHandshake(options: ConnectionOptions): Promise<Handshake> {
  return new Promise((resolve) => {
    const socket = connect({ ...options, ALPNProtocols: ['h2'], timeout: HANDSHAKE_TIMEOUT_MS });
    const finish = (handshake: Handshake) => {
      resolve(handshake);
      socket.destroy();
    };
    socket.once('secureConnect', () => finish('trusted'));
    socket.once('timeout', () => finish({ code: 'TIMEOUT' }));
    socket.on('error', (error: NodeJS.ErrnoException) => finish({ code: error.code ?? error.name }));
    socket.once('end', () => finish({ code: 'ENDED' }));
  });
}
