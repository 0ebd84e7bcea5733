import { CONNECTION_LIMITS } from './connection-guard.ts';
import { parseByteSize, createIntegerSettingParser } from './setting-types.ts';

/** Setting of the disk space that documents leave free. */
export const DISK_RESERVE_SETTING = {
  type: parseByteSize,
  programs: ['standalone', 'gateway'],
  default: '1GiB',
  for: 'free disk space that [documents must leave](documents.md#storage) for other data; uploads that need it get 507 `storage_full`',
} as const;

/** Settings that limit connections, keys, event streams and storage. Their names begin with `MAX_`. */
export const LIMIT_SETTINGS = {
  MAX_API_KEYS_PER_OWNER: {
    type: createIntegerSettingParser(1, 1_000),
    programs: ['standalone', 'gateway'],
    default: '25',
    for: 'valid API keys of one user or service account; further keys get 409 `too_many_keys`',
  },
  MAX_CONNECTIONS: {
    type: createIntegerSettingParser(10, 1_000_000),
    programs: ['standalone', 'gateway', 'mcp'],
    default: String(CONNECTION_LIMITS.maxConnections),
    for: 'open client connections of one process; [further connections](http.md#limits-of-a-process) replace those of the largest network',
  },
  MAX_CONNECTIONS_PER_NETWORK: {
    type: createIntegerSettingParser(1, 1_000_000),
    programs: ['standalone', 'gateway', 'mcp'],
    default: String(CONNECTION_LIMITS.maxPerNetwork),
    for: 'open connections of one IPv4 address or IPv6 /64; trusted proxies have no limit of their own',
  },
  MAX_EVENT_STREAMS: {
    type: createIntegerSettingParser(1, 1_000_000),
    programs: ['standalone', 'gateway'],
    default: '5000',
    for: 'open [event streams](events.md#stream) of one process; further streams get 503 `busy`',
  },
  MAX_EVENT_STREAMS_PER_KEY: {
    type: createIntegerSettingParser(1, 1_000_000),
    programs: ['standalone', 'gateway'],
    default: '20',
    for: 'open event streams of one key or session in one process; further streams get 429 `too_many_streams`',
  },
  MAX_EVENT_STREAMS_PER_OWNER: {
    type: createIntegerSettingParser(1, 1_000_000),
    programs: ['standalone', 'gateway'],
    default: '60',
    for: 'open event streams of all keys and sessions of one user or service account in one process',
  },
  MAX_EVENT_STREAMS_PER_WORKSPACE: {
    type: createIntegerSettingParser(1, 1_000_000),
    programs: ['standalone', 'gateway'],
    default: '500',
    for: 'open event streams of one workspace in one process',
  },
  MAX_MCP_REQUESTS: {
    type: createIntegerSettingParser(1, 1_000_000),
    programs: ['mcp'],
    default: '256',
    for: 'HTTP requests in progress of one MCP server; further requests get 503',
  },
  MAX_MCP_REQUESTS_PER_KEY: {
    type: createIntegerSettingParser(1, 1_000_000),
    programs: ['mcp'],
    default: '64',
    for: 'HTTP requests in progress of one API key at one MCP server; further requests get 429',
  },
  MAX_STORAGE_PER_WORKSPACE: {
    type: parseByteSize,
    programs: ['standalone', 'gateway'],
    default: '10GiB',
    for: 'bytes of [documents of one workspace](documents.md#storage); uploads beyond it get 413 `storage_quota_exceeded`',
  },
} as const;

/** Settings that limit requests per minute. */
export const RATE_LIMIT_SETTINGS = {
  RATE_LIMIT_OWNER_FACTOR: {
    type: createIntegerSettingParser(1, 1_000),
    programs: ['standalone', 'gateway'],
    default: '4',
    for: 'limit for all keys and sessions of one user or service account together, in multiples of `RATE_LIMIT_PER_MINUTE`',
  },
  RATE_LIMIT_PER_MINUTE: {
    type: createIntegerSettingParser(1, 1_000_000_000),
    programs: ['standalone', 'gateway'],
    default: '1000',
    for: 'maximum number of requests per minute and API key',
  },
} as const;
