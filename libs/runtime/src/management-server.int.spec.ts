import { once } from 'node:events';
import { connect } from 'node:net';
import { eventually } from '@tracking/testing';
import { ProcessHealth, PrometheusMetrics, startManagementServer } from './management-server.ts';

describe('the management server', () => {
  it('reports that the process is live before it is ready, then its readiness and metrics', async () => {
    const health = new ProcessHealth();
    const metrics = new PrometheusMetrics('test');
    const server = await startManagementServer({ host: '127.0.0.1', port: 0 }, metrics, () =>
      health.createHealthReport(),
    );
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
      return { status: response.status, text: await response.text() };
    };
    try {
      expect(await get('/health/live')).toEqual({ status: 200, text: '{"status":"live"}' });
      expect(await get('/health/ready')).toEqual({ status: 503, text: '{"status":"starting","engines":{}}' });
      health.setEngineStatus('storage');
      health.markProcessStarted();
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

  it('closes connections beyond 64 of one address, and responds to others', async () => {
    const report = () => new ProcessHealth().createHealthReport();
    const server = await startManagementServer({ host: '127.0.0.1', port: 0 }, new PrometheusMetrics('test'), report);
    const open = async (localAddress: string) => {
      const socket = connect({ port: server.port, host: '127.0.0.1', localAddress });
      socket.on('error', () => undefined).resume();
      await once(socket, 'connect');
      return socket;
    };
    const sockets = await Promise.all(Array.from({ length: 70 }, () => open('127.0.0.66')));
    try {
      await eventually(() =>
        expect(sockets.filter(({ readableEnded, destroyed }) => readableEnded || destroyed)).toHaveLength(6),
      );
      expect((await fetch(`http://127.0.0.1:${server.port}/health/live`)).status).toBe(200);
    } finally {
      for (const socket of sockets) socket.destroy();
      await server.close();
    }
  });

  it('refuses a port in use', async () => {
    const start = (port: number) =>
      startManagementServer({ host: '127.0.0.1', port }, new PrometheusMetrics('test'), () =>
        new ProcessHealth().createHealthReport(),
      );
    const first = await start(0);
    try {
      await expect(start(first.port)).rejects.toThrow('EADDRINUSE');
    } finally {
      await first.close();
    }
  });
});

describe('Health', () => {
  it('is not ready before the first start and while draining', () => {
    const health = new ProcessHealth();
    expect(health.createHealthReport()).toMatchObject({ status: 'starting', httpStatus: 503 });
    health.markProcessStarted();
    expect(health.createHealthReport()).toMatchObject({ status: 'ready', httpStatus: 200 });
    health.markDraining();
    health.markProcessStarted();
    expect(health.createHealthReport()).toMatchObject({ status: 'draining', httpStatus: 503 });
  });

  it('remains available, degraded, if an engine fails later', () => {
    const health = new ProcessHealth();
    health.markProcessStarted();
    health.setEngineStatus('event store', 'no answer');
    expect(health.createHealthReport()).toEqual({
      status: 'degraded',
      engines: { 'event store': 'no answer' },
      httpStatus: 200,
    });
    health.setEngineStatus('event store');
    expect(health.createHealthReport()).toMatchObject({ status: 'ready', engines: { 'event store': 'ok' } });
  });
});

describe('the management port', () => {
  it('shows metrics and health of the process', async () => {
    const metrics = new PrometheusMetrics('standalone');
    const health = new ProcessHealth();
    metrics.createCounter('commands_total', 'Commands.', ['type']).add(2, { type: 'UpsertShipment' });
    metrics.createCounter('commands_total', 'Commands.', ['type']).add(1, { type: 'UpsertShipment' });
    metrics.createGauge('queue_depth', 'Depth.', [], () => 7);
    metrics.createHistogram('work_seconds', 'Work.').observe(0.02);
    const server = await startManagementServer({ host: '127.0.0.1', port: 0 }, metrics, () =>
      health.createHealthReport(),
    );
    const get = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);
    try {
      const text = await (await get('/metrics')).text();
      expect(text).toContain('commands_total{type="UpsertShipment",service="standalone"} 3');
      expect(text).toContain('queue_depth{service="standalone"} 7');
      expect(text).toContain('work_seconds_count{service="standalone"} 1');
      expect((await get('/health/live')).status).toBe(200);
      expect((await get('/health/ready')).status).toBe(503);
      health.markProcessStarted();
      expect(await (await get('/health/ready')).json()).toEqual({ status: 'ready', engines: {} });
      expect((await get('/other')).status).toBe(404);
    } finally {
      await server.close();
    }
  });
});
