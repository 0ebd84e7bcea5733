import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Metrics } from '@tracking/ports';
import { HttpConnectionLimiter, handleRequestsInOrder } from './connection-guard.ts';
import { standardOutputLogWriter } from './logging.ts';

/** Handles other paths of the management port. Returns false for unknown paths. */
export type ManagementHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Connection limits that are sufficient for the probes and metric scrapers of a cluster. */
const CONNECTION_LIMITS = { maxConnections: 256, maxPerNetwork: 64 };

/** Serves `/metrics` and the health checks of this process on its management port. */
export async function startManagementServer(
  address: { host: string; port: number },
  metrics: PrometheusMetrics,
  health: () => OperatorsHealthReport,
  handleOther: ManagementHandler = () => false,
): Promise<{ port: number; close(): Promise<void> }> {
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url?.split('?')[0];
    if (path === '/metrics') {
      void metrics.formatMetricsText().then(
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
    } else if (!handleOther(request, response)) {
      answer(404, { error: 'not found' });
    }
  };
  const server: Server = createServer(handleRequestsInOrder(handle));
  new HttpConnectionLimiter({ ...CONNECTION_LIMITS, networkOf: (address) => address }).guardServerConnections(server);
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

type HealthStatus = 'starting' | 'ready' | 'degraded' | 'draining';

export interface HealthReport {
  readonly status: HealthStatus;
  /** Last result of each engine: `ok`, or the reason why it does not respond. */
  readonly engines: Readonly<Record<string, string>>;
  /**
   * HTTP status of the health check: 503 before the first successful start and while draining; otherwise 200, so that
   * an orchestrator does not stop a process that still works partly.
   */
  readonly httpStatus: 200 | 503;
}

/** Health of a process with details for operators. */
export interface OperatorsHealthReport extends HealthReport {
  /**
   * Share of this process in each group of leases: leases that it holds, and processes that share the group. Absent if
   * the process shares no leases.
   */
  readonly leases?: Readonly<Record<string, { readonly held: number; readonly members: number }>>;
}

/** Health of a process, reported to orchestrators. */
export class ProcessHealth {
  private phase: 'starting' | 'serving' | 'draining' = 'starting';
  private readonly engines = new Map<string, string>();
  private reportLeases: (() => OperatorsHealthReport['leases']) | undefined;

  /** Sets the function that reports the leases of this process. */
  setLeaseReportProvider(reportLeases: () => NonNullable<OperatorsHealthReport['leases']>): void {
    this.reportLeases = reportLeases;
  }

  /** Records the state of an engine. @param problem one line without secrets; undefined if the engine responds */
  setEngineStatus(name: string, problem?: string): void {
    this.engines.set(name, problem ?? 'ok');
  }

  markProcessStarted(): void {
    if (this.phase === 'starting') this.phase = 'serving';
  }

  markDraining(): void {
    this.phase = 'draining';
  }

  createHealthReport(): HealthReport {
    const degraded = [...this.engines.values()].some((state) => state !== 'ok');
    const status = this.phase === 'serving' ? (degraded ? 'degraded' : 'ready') : this.phase;
    return { status, engines: Object.fromEntries(this.engines), httpStatus: this.phase === 'serving' ? 200 : 503 };
  }

  /** Returns the report for the management port. */
  createHealthReportForOperators(): OperatorsHealthReport {
    const leases = this.reportLeases?.();
    return { ...this.createHealthReport(), ...(leases !== undefined && { leases }) };
  }
}

/**
 * Milliseconds between two measurements of the delay of the event loop. The default of prom-client, 10, wakes an idle
 * process a hundred times a second, which costs 0.6 % of a core.
 */
const EVENT_LOOP_DELAY_INTERVAL_MS = 100;

/** Metrics of this process, collected by prom-client. */
export class PrometheusMetrics implements Metrics {
  private readonly registry = new Registry();

  constructor(service: string) {
    this.registry.setDefaultLabels({ service });
    collectDefaultMetrics({
      register: this.registry,
      eventLoopMonitoringPrecision: EVENT_LOOP_DELAY_INTERVAL_MS,
    });
    new Counter({
      name: 'log_lines_dropped_total',
      help: 'Log lines that could not be written to standard output.',
      registers: [this.registry],
      collect(this: Counter) {
        this.reset();
        this.inc(standardOutputLogWriter.dropped);
      },
    });
  }

  createCounter(name: string, help: string, labels: readonly string[] = []): ReturnType<Metrics['createCounter']> {
    const counter =
      (this.registry.getSingleMetric(name) as Counter | undefined) ??
      new Counter({ name, help, labelNames: [...labels], registers: [this.registry] });
    return { add: (amount = 1, values = {}) => counter.inc(values, amount) };
  }

  createGauge(
    name: string,
    help: string,
    labels: readonly string[] = [],
    read?: () => number,
  ): ReturnType<Metrics['createGauge']> {
    const gauge =
      (this.registry.getSingleMetric(name) as Gauge | undefined) ??
      new Gauge({
        name,
        help,
        labelNames: [...labels],
        registers: [this.registry],
        ...(read && {
          collect(this: Gauge) {
            this.set(read());
          },
        }),
      });
    return { set: (value, values = {}) => gauge.set(values, value) };
  }

  createHistogram(
    name: string,
    help: string,
    labels: readonly string[] = [],
    buckets: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  ): ReturnType<Metrics['createHistogram']> {
    const histogram =
      (this.registry.getSingleMetric(name) as Histogram | undefined) ??
      new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers: [this.registry] });
    return { observe: (value, values = {}) => histogram.observe(values, value) };
  }

  /** Returns the metrics in the Prometheus text format. */
  async formatMetricsText(): Promise<{ contentType: string; body: string }> {
    return { contentType: this.registry.contentType, body: await this.registry.metrics() };
  }
}
