/** Host and port of a node. */
export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

/** Host at which all nodes accept connections. */
export const LISTEN_HOST = '127.0.0.1';

/** Returns the address that a node advertises. */
export function createNodeAddress(port: number, usesTls: boolean): NodeAddress {
  // A server name of TLS must not be an IP address (RFC 6066).
  return { host: usesTls ? 'localhost' : LISTEN_HOST, port };
}

/** Returns the connection string of nodes, without credentials. */
export function createConnectionString(ports: readonly number[], usesTls: boolean): string {
  const hosts = ports.map((port) => createNodeAddress(port, usesTls)).map(({ host, port }) => `${host}:${port}`);
  return `esdb://${hosts.join(',')}?tls=${usesTls}`;
}
