import {
  ConfigError,
  type ConnectionConfig,
  ConfigReader,
  type EnvironmentVariables,
  type LogLevel,
  type MisspelledVariable,
  readConnectionLimitConfig,
} from '@tracking/runtime';

/** Settings of the MCP server; docs/reference/settings.md lists them. */
export interface McpConfig {
  readonly transport: 'stdio' | 'http';
  /** URL of the shipment tracking API. */
  readonly trackingUrl: string;
  /** API key of the stdio transport. The HTTP transport uses the key of each request instead. */
  readonly apiKey: string | undefined;
  /** True if the server offers tools that write. */
  readonly allowWrites: boolean;
  /** Origins whose pages may call the HTTP transport, for example `https://agent.example.com`. */
  readonly allowedOrigins: readonly string[];
  /** Maximum number of HTTP requests in progress, in total and for one API key. */
  readonly maxRequests: number;
  readonly maxRequestsPerKey: number;
  readonly host: string;
  readonly port: number;
  readonly connections: ConnectionConfig;
  readonly managementHost: string;
  readonly managementPort: number;
  readonly logLevel: LogLevel;
  /** Milliseconds within which requests in progress can end in order at shutdown. */
  readonly drainMs: number;
  /** Variables that look like misspelled settings. */
  readonly misspelled: readonly MisspelledVariable[];
}

const DEFAULT_PORT = '3100';
/** Differs from the management port of a standalone server, which usually runs on the same machine. */
const DEFAULT_MANAGEMENT_PORT = '9465';

/** Reads the settings from the environment. @throws ConfigError naming the invalid variable */
export function loadConfig(env: EnvironmentVariables = process.env): McpConfig {
  const read = new ConfigReader(env);
  const transport = read.readSetting('MCP_TRANSPORT');
  const apiKey = read.readSetting('TRACKING_API_KEY');
  const config = {
    transport,
    trackingUrl: read.readSetting('TRACKING_URL'),
    apiKey,
    allowWrites: read.readSetting('MCP_ALLOW_WRITES'),
    allowedOrigins: read.readSetting('MCP_ALLOWED_ORIGINS'),
    maxRequests: read.readSetting('MAX_MCP_REQUESTS'),
    maxRequestsPerKey: read.readSetting('MAX_MCP_REQUESTS_PER_KEY'),
    host: read.readSetting('HOST'),
    port: read.readSetting('PORT', DEFAULT_PORT),
    connections: readConnectionLimitConfig(read),
    managementHost: read.readSetting('MANAGEMENT_HOST'),
    managementPort: read.readSetting('MANAGEMENT_PORT', DEFAULT_MANAGEMENT_PORT),
    logLevel: read.readSetting('LOG_LEVEL'),
    drainMs: read.readSetting('SHUTDOWN_DRAIN'),
  };
  if (transport === 'stdio' && apiKey === undefined) {
    throw new ConfigError('TRACKING_API_KEY is not set: the stdio transport needs an API key');
  }
  if (transport === 'http' && apiKey !== undefined) {
    throw new ConfigError('TRACKING_API_KEY is set: the http transport uses the key of each request, so remove it');
  }
  return { ...config, misspelled: read.findMisspelledVariables() };
}
