import { Health } from './health.ts';
import { startManagementServer } from './management-server.ts';
import { PrometheusMetrics } from './metrics.ts';

describe('the management server', () => {
  it('says that a process lives while it is not ready yet, what it is ready for, and what it measured', async () => {
    const health = new Health();
    const metrics = new PrometheusMetrics('test');
    const server = await startManagementServer({ host: '127.0.0.1', port: 0 }, metrics, () => health.report());
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
      return { status: response.status, text: await response.text() };
    };
    try {
      expect(await get('/health/live')).toEqual({ status: 200, text: '{"status":"live"}' });
      expect(await get('/health/ready')).toEqual({ status: 503, text: '{"status":"starting","engines":{}}' });
      health.engine('storage');
      health.started();
      expect(await get('/health/ready?probe=1')).toEqual({
        status: 200,
        text: '{"status":"ready","engines":{"storage":"ok"}}',
      });
      expect((await get('/metrics')).text).toContain('service="test"');
      expect((await get('/')).status).toBe(404);
    } finally {
      await server.close();
    }
  });

  it('refuses a port in use', async () => {
    const start = (port: number) =>
      startManagementServer({ host: '127.0.0.1', port }, new PrometheusMetrics('test'), () => new Health().report());
    const first = await start(0);
    try {
      await expect(start(first.port)).rejects.toThrow('EADDRINUSE');
    } finally {
      await first.close();
    }
  });
});
