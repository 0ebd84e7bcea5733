import { Health } from './health.ts';
import { startManagementServer } from './management-server.ts';
import { PrometheusMetrics } from './metrics.ts';

describe('the management port', () => {
  it('shows metrics and health of the process', async () => {
    const metrics = new PrometheusMetrics('standalone');
    const health = new Health();
    metrics.counter('commands_total', 'Commands.', ['type']).add(2, { type: 'UpsertShipment' });
    metrics.counter('commands_total', 'Commands.', ['type']).add(1, { type: 'UpsertShipment' });
    metrics.gauge('queue_depth', 'Depth.', [], () => 7);
    metrics.histogram('work_seconds', 'Work.').observe(0.02);
    const server = await startManagementServer({ host: '127.0.0.1', port: 0 }, metrics, () => health.report());
    const get = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);
    try {
      const text = await (await get('/metrics')).text();
      expect(text).toContain('commands_total{type="UpsertShipment",service="standalone"} 3');
      expect(text).toContain('queue_depth{service="standalone"} 7');
      expect(text).toContain('work_seconds_count{service="standalone"} 1');
      expect((await get('/health/live')).status).toBe(200);
      expect((await get('/health/ready')).status).toBe(503);
      health.started();
      expect(await (await get('/health/ready')).json()).toEqual({ status: 'ready', engines: {} });
      expect((await get('/other')).status).toBe(404);
    } finally {
      await server.close();
    }
  });
});
