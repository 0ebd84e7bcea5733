import { setTimeout as pause } from 'node:timers/promises';
import { type Clock, type Logger, retryCounter, Unavailable } from '@tracking/ports';
import { retry } from '@tracking/resilience';
import {
  blameSetting,
  ConfigError,
  type ConfigReader,
  createLogger,
  Health,
  type LogLevel,
  type ManagementHandler,
  type MisspelledVariable,
  PrometheusMetrics,
  Shutdown,
  startManagementServer,
  warnOfMisspelledVariables,
} from '@tracking/runtime';

/** Time within which work that is under way must finish. */
const SHUTDOWN_TIMEOUT_MS = 20_000;
const PROBE_INTERVAL_MS = 2_000;
/** An engine that has not answered by then is said not to. */
const PROBE_TIMEOUT_MS = 3_000;
/** Between two tries of what a start needs. */
const MAX_RETRY_PAUSE_MS = 1_000;

export interface ServiceSettings {
  readonly managementHost: string;
  readonly managementPort: number;
  readonly logLevel: LogLevel;
  /** Variables that are no settings, and look like one; to be asked when all settings were read. */
  readonly findMisspelled: () => readonly MisspelledVariable[];
}

/** @throws ConfigError */
export function readServiceSettings(read: ConfigReader): ServiceSettings {
  return {
    managementHost: read.get('MANAGEMENT_HOST'),
    managementPort: read.get('MANAGEMENT_PORT'),
    logLevel: read.get('LOG_LEVEL'),
    findMisspelled: () => read.findMisspelledVariables(),
  };
}

/** One process of the distributed system: its log, metrics, health and end. What it does, its app adds. */
export class Service {
  readonly clock: Clock = () => new Date();

  readonly metrics: PrometheusMetrics;
  readonly health = new Health();
  readonly shutdown: Shutdown;
  private readonly stopping = new AbortController();
  private administration: ManagementHandler | undefined;
  private port = 0;

  private constructor(
    name: string,
    readonly logger: Logger,
  ) {
    this.metrics = new PrometheusMetrics(name);
    this.shutdown = new Shutdown(logger, SHUTDOWN_TIMEOUT_MS);
  }

  /** Port of the management server. */
  get managementPort(): number {
    return this.port;
  }

  /** Lives from here on: says so, and that it is not ready yet; ends on SIGTERM. @throws ConfigError */
  static async start(name: string, settings: ServiceSettings): Promise<Service> {
    const logger = await createLogger({ level: settings.logLevel, service: name });
    warnOfMisspelledVariables(logger, settings.findMisspelled());
    const service = new Service(name, logger);
    const { metrics, health, shutdown } = service;
    const drain = () => {
      health.markDraining();
      service.stopping.abort();
    };
    shutdown.onUncaught(drain);
    const address = { host: settings.managementHost, port: settings.managementPort };
    const others: ManagementHandler = (request, response) => service.administration?.(request, response) ?? false;
    const starting = startManagementServer(address, metrics, () => health.report(), others);
    const management = await blameSetting('MANAGEMENT_HOST, MANAGEMENT_PORT', starting);
    service.port = management.port;
    shutdown.add('management', () => management.close());
    shutdown.onSignals(drain);
    return service;
  }

  /** Further routes of the management port. */
  handleManagement(handler: ManagementHandler): void {
    this.administration = handler;
  }

  /**
   * Watches an engine: what it last answered stands in `/health/ready`.
   * @param name as operators know it
   * @param probe rejects where the engine does not answer
   */
  watch(name: string, probe: () => Promise<unknown>): void {
    const { signal } = this.stopping;
    const probeRepeatedly = async () => {
      while (!signal.aborted) {
        this.health.setEngineStatus(name, await probeEngine(probe));
        await pause(PROBE_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    };
    this.health.setEngineStatus(name, 'not asked yet');
    void probeRepeatedly();
  }

  /** Retries what needs an engine until the engine is there. @throws what is no fault of an engine; AbortError at the end */
  async retryUntilAvailable<T>(action: () => Promise<T>): Promise<T> {
    const { signal } = this.stopping;
    const isTransient = (error: unknown) => error instanceof Unavailable;
    let said = '';
    const onFailure = (error: unknown) => {
      if (!(error instanceof Unavailable)) return;
      retryCounter(this.metrics)('starting');
      if (error.message !== said) this.logger.warn({ reason: error.message }, 'waiting for an engine');
      said = error.message;
    };
    try {
      return await retry(action, { signal, maxPauseMs: MAX_RETRY_PAUSE_MS, isTransient, onFailure });
    } catch (error) {
      if (error instanceof Unavailable) signal.throwIfAborted();
      throw error;
    }
  }

  /** From here on orchestrators may send it work. */
  markReady(where: object = {}): void {
    this.health.markStarted();
    this.logger.info({ ...where, management_port: this.managementPort }, 'ready');
  }
}

async function probeEngine(probe: () => Promise<unknown>): Promise<string | undefined> {
  const timeoutController = new AbortController();
  const timeout = pause(PROBE_TIMEOUT_MS, 'does not answer', { signal: timeoutController.signal, ref: false });
  const probing = probe().then(
    () => undefined,
    (error: unknown) => (error instanceof Unavailable ? error.message : 'fails'),
  );
  try {
    return await Promise.race([probing, timeout]);
  } finally {
    timeout.catch(() => undefined);
    timeoutController.abort();
  }
}

/** Runs a service's `main`: what an operator did wrong is told in one line; anything else is a fault of ours and shows where. */
export async function runService<Config>(
  loadConfig: () => Config,
  start: (config: Config) => Promise<void>,
): Promise<void> {
  try {
    await start(loadConfig());
  } catch (error) {
    // Stopped while it waited for an engine.
    if (error instanceof Error && error.name === 'AbortError') return;
    const said = error instanceof ConfigError ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${said}\n`);
    process.exit(1);
  }
}
