import type { LookupAddress } from 'node:dns';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import type { AddressPolicy } from './addresses.ts';
import { NameNotResolved, type Lookup } from './name-resolution.ts';
import { refusalOf } from './target.ts';

export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/**
 * Answers the socket that it begins to open, and calls back with one that may be written to: the same or, over TLS, another
 * on top. Destroying the first, at any time, ends both.
 */
export type Connector = (options: buildConnector.Options, callback: buildConnector.Callback) => Socket;

export interface ConnectorOptions {
  readonly addresses: AddressPolicy;
  readonly lookup: Lookup;
  /** Trusted instead of Node's own store. */
  readonly ca?: string | Buffer;
}

/** How long one of several addresses may keep the next one waiting. */
const addressAttemptMs = 500;
/** After this long without traffic the system asks whether the other side is still there. */
const keepAliveProbeMs = 60_000;

/**
 * Every connection resolves its name itself, drops the addresses that are refused, and hands the rest to the socket as
 * numbers: no second resolution can put another address in between (DNS rebinding), and a connection that is used again
 * was checked when it was opened. Only the address is taken from the answer; host header, server name and certificate
 * check stay with the URL's host.
 */
export function createConnector({ addresses, lookup, ca }: ConnectorOptions): Connector {
  const checkedLookup = (protocol: string): LookupFunction => {
    const pick = async (hostname: string): Promise<LookupAddress[]> => {
      const found = await lookup(hostname);
      if (found.length === 0) throw new NameNotResolved('the host name has no address');
      const refusals = found.map((address) => refusalOf(address, protocol, addresses));
      const usable = found.filter((_, index) => refusals[index] === undefined);
      // Without the address: what a name means inside the operator's network is not for the client to learn.
      if (usable.length === 0) throw new AddressRefused(`the host is ${refusals[0]}`);
      return usable.map((address) => ({ address, family: isIP(address) }));
    };
    return (hostname, _options, callback) => {
      pick(hostname).then(
        (usable) => callback(null, usable),
        (error: Error) => callback(error, []),
      );
    };
  };
  const lookups = { 'http:': checkedLookup('http:'), 'https:': checkedLookup('https:') };
  // Made once: reading the trust store costs more than a handshake. Sessions are not resumed, so that every connection
  // sees the receiver's present certificate.
  const secureContext = createSecureContext(ca === undefined ? {} : { ca });

  return ({ protocol, hostname, port }, callback) => {
    const plain = protocol === 'http:';
    const socket = connectTcp({
      host: hostname,
      port: Number(port) || (plain ? 80 : 443),
      // Asked for names only: a host given as an address was judged with its URL.
      lookup: lookups[plain ? 'http:' : 'https:'],
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: addressAttemptMs,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveProbeMs,
    });
    const secure = () =>
      connectTls({
        socket,
        host: hostname,
        secureContext,
        // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn it off.
        rejectUnauthorized: true,
        ALPNProtocols: ['http/1.1'],
        // A server name is never an address (RFC 6066).
        ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
      });
    let waiting = true;
    const settle = (error: Error | null, open = socket) => {
      if (!waiting) return;
      waiting = false;
      if (error === null) callback(null, open);
      else callback(error, null);
    };
    socket.once('connect', () => {
      if (plain) return settle(null);
      const tls = secure();
      tls.once('secureConnect', () => settle(null, tls));
      tls.on('error', settle);
    });
    // Both stay for the socket's life, so that no late error is ever unhandled.
    socket.on('error', settle);
    return socket;
  };
}
