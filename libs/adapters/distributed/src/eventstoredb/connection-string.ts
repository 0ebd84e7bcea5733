/** Matches the parts of a connection string like the client does: protocol, user, password, hosts and options. */
const CONNECTION_STRING_PATTERN = /^([^:]+:\/\/)(?:([^:]+):([^@]+)@)?([^?]*)(?:\?(.*))?$/;
const DEFAULT_NODE_PORT = 2113;
/** Options of the client that the adapter sets if the connection string does not. */
const DEFAULT_CONNECTION_OPTIONS = {
  // Seconds for the question which nodes a cluster has. The client's own default is 5, in which a node that hangs can
  // delay the search for the leader.
  gossipTimeout: '2',
};

/** User name and password. */
export interface EventStoreUserCredentials {
  readonly username: string;
  readonly password: string;
}

/** Node that the client prefers for calls that any node may answer. */
type NodePreference = 'leader' | 'follower' | 'random' | 'read_only_replica';
const NODE_PREFERENCES: readonly NodePreference[] = ['leader', 'follower', 'random', 'read_only_replica'];

/** Parts of a connection string. */
export interface ConnectionStringParts {
  /** Protocol with `://`. */
  readonly protocol: string;
  readonly credentials: EventStoreUserCredentials | undefined;
  /** Hosts as text, such as `a:2113,b:2113`. */
  readonly hosts: string;
  /** Options in their order, without `nodePreference`. */
  readonly options: readonly (readonly [name: string, value: string])[];
  readonly nodePreference: NodePreference;
}

/** @throws URIError, TypeError */
export function parseConnectionString(url: string): ConnectionStringParts {
  const [, protocol, username, password, hosts = '', optionText] = CONNECTION_STRING_PATTERN.exec(url.trim()) ?? [];
  if (protocol === undefined) throw new TypeError('no protocol');
  const pairs = (optionText ?? '').split('&').filter((pair) => pair !== '');
  const options = pairs.map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return [name, value.join('=')] as const;
  });
  const preference = normaliseConnectionStringOptionName(findConnectionOption(options, 'nodePreference') ?? 'leader');
  const nodePreference = NODE_PREFERENCES.find((known) => normaliseConnectionStringOptionName(known) === preference);
  if (nodePreference === undefined) throw new TypeError('unknown node preference');
  return {
    protocol,
    hosts,
    nodePreference,
    credentials:
      username === undefined || password === undefined
        ? undefined
        : { username: decodeURIComponent(username), password: decodeURIComponent(password) },
    options: options.filter(
      ([name]) => normaliseConnectionStringOptionName(name) !== normaliseConnectionStringOptionName('nodePreference'),
    ),
  };
}

/**
 * Returns the connection string for the client, without credentials, because the client prints the string if it contains
 * an unknown option.
 */
export function formatConnectionString(
  { protocol, hosts, options }: ConnectionStringParts,
  nodePreference: NodePreference,
): string {
  const defaults = Object.entries(DEFAULT_CONNECTION_OPTIONS).filter(
    ([name]) => findConnectionOption(options, name) === undefined,
  );
  const all = [...options, ...defaults, ['nodePreference', nodePreference.replaceAll('_', '')] as const];
  return `${protocol}${hosts}?${all.map(([name, value]) => `${name}=${value}`).join('&')}`;
}

/** Returns the value of an option, whose name may be written like any of `tlsCaFile`, `tlsCAFile` and `tls-ca-file`. */
export function findConnectionOption(options: ConnectionStringParts['options'], wanted: string): string | undefined {
  const value = options.findLast(
    ([name]) => normaliseConnectionStringOptionName(name) === normaliseConnectionStringOptionName(wanted),
  )?.[1];
  return value === undefined ? undefined : decodeURIComponent(value);
}

/** Returns host and port of each node, or of the name that stands for all nodes. */
export function listNodeAddresses({
  hosts,
}: ConnectionStringParts): { readonly host: string; readonly port: number }[] {
  return hosts
    .split(',')
    .map((text) => text.trim().replace(/\/+$/, ''))
    .filter((text) => text !== '')
    .map((text) => {
      const [host = '', port] = text.split(':');
      return { host, port: port === undefined ? DEFAULT_NODE_PORT : Number(port) };
    });
}

function normaliseConnectionStringOptionName(name: string): string {
  return name.trim().toLowerCase().replaceAll(/[_-]/g, '');
}
