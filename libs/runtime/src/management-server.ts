import { createServer, type Server } from 'node:http';
import type { HealthReport } from './health.ts';
import type { PrometheusMetrics } from './metrics.ts';

/** Serves `/metrics` and the health checks of this process on its management port. */
export async function startManagementServer(
  address: { host: string; port: number },
  metrics: PrometheusMetrics,
  health: () => HealthReport,
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
    const report = health();
    const status = path === '/health/live' ? 200 : path === '/health/ready' ? report.httpStatus : 404;
    const body = status === 404 ? { error: 'not found' } : { status: report.status, engines: report.engines };
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
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
