import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { HealthReport } from './health.ts';
import type { PrometheusMetrics } from './metrics.ts';

/** Answers other paths of the management port; false for those it does not know. */
export type ManagementHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Serves `/metrics` and the health checks of this process on its management port. */
export async function startManagementServer(
  address: { host: string; port: number },
  metrics: PrometheusMetrics,
  health: () => HealthReport,
  others: ManagementHandler = () => false,
): Promise<{ port: number; close(): Promise<void> }> {
  const server: Server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    if (path === '/metrics') {
      void metrics.text().then(
        ({ contentType, body }) => response.writeHead(200, { 'Content-Type': contentType }).end(body),
        () => response.writeHead(500).end(),
      );
      return;
    }
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    if (path === '/health/live') {
      answer(200, { status: 'live' });
    } else if (path === '/health/ready') {
      const { httpStatus, ...report } = health();
      answer(httpStatus, report);
    } else if (!others(request, response)) {
      answer(404, { error: 'not found' });
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, resolve);
  });
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
