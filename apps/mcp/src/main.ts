import { serveStdio } from '@modelcontextprotocol/server/stdio';
import {
  ConfigError,
  createLogger,
  formatError,
  ProcessHealth,
  convertMachineErrorToConfigError,
  PrometheusMetrics,
  Shutdown,
  startManagementServer,
  warnOfMisspelledVariables,
} from '@tracking/runtime';
import { loadConfig, type McpConfig } from './config.ts';
import { startMcpHttpServer } from './http-server.ts';
import { createMcpServer } from './mcp-server.ts';

/** Maximum milliseconds of a shutdown. */
const SHUTDOWN_TIMEOUT_MS = 20_000;

/** Serves one client over standard input and output, until the client closes the input. */
async function serveMcpOverStdio(config: McpConfig): Promise<void> {
  // Standard output contains only messages of the protocol.
  const logger = await createLogger({ level: config.logLevel, service: 'mcp', destination: process.stderr });
  warnOfMisspelledVariables(logger, config.misspelled);
  const { trackingUrl, apiKey = '', allowWrites } = config;
  const connection = serveStdio(() => createMcpServer({ trackingUrl, apiKey, allowWrites, logger }), {
    maxSubscriptions: 0,
    onerror: (error) => logger.warn({ error: formatError(error) }, 'an MCP message was refused'),
  });
  const shutdown = new Shutdown(logger, SHUTDOWN_TIMEOUT_MS);
  shutdown.addShutdownStep('stdio', () => connection.close());
  shutdown.shutDownOnSignals();
  shutdown.shutDownOnUncaughtErrors();
  // The client has closed the connection, so it does not read the results of calls in progress.
  process.stdin.once('close', () => shutdown.endProcess());
  logger.info({ tracking_url: trackingUrl, writes: allowWrites }, 'ready');
}

async function serveMcpOverHttp(config: McpConfig): Promise<void> {
  const logger = await createLogger({ level: config.logLevel, service: 'mcp' });
  warnOfMisspelledVariables(logger, config.misspelled);
  const metrics = new PrometheusMetrics('mcp');
  const health = new ProcessHealth();
  const shutdown = new Shutdown(logger, SHUTDOWN_TIMEOUT_MS);
  shutdown.shutDownOnSignals(() => health.markDraining());
  shutdown.shutDownOnUncaughtErrors(() => health.markDraining());
  const { managementHost: host, managementPort: port } = config;
  const management = await convertMachineErrorToConfigError(
    `MANAGEMENT_HOST=${host} MANAGEMENT_PORT=${port}`,
    startManagementServer({ host, port }, metrics, () => health.createHealthReport()),
  );
  shutdown.addShutdownStep('management server', () => management.close());
  const server = await startMcpHttpServer({ config, logger, metrics });
  shutdown.addShutdownStep('MCP server', () => server.close());
  health.markProcessStarted();
  const { trackingUrl: tracking_url, allowWrites: writes } = config;
  logger.info(
    { host: config.host, port: server.port, management_port: management.port, tracking_url, writes },
    'listening',
  );
}

try {
  const config = loadConfig();
  await (config.transport === 'stdio' ? serveMcpOverStdio(config) : serveMcpOverHttp(config));
} catch (startError) {
  const isOperatorError = startError instanceof ConfigError;
  process.stderr.write(`${isOperatorError ? startError.message : formatError(startError)}\n`);
  process.exit(1);
}
