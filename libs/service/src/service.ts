import { setTimeout as pause } from 'node:timers/promises';
import {
  EngineAccessRefusedError,
  type Clock,
  type Logger,
  createRetryCounter,
  UnavailableError,
} from '@tracking/ports';
import { pauseUntilNextTick, retry } from '@tracking/resilience';
import {
  convertMachineErrorToConfigError,
  ConfigError,
  type ConfigReader,
  createLogger,
  ProcessHealth,
  type LogLevel,
  type ManagementHandler,
  type MisspelledVariable,
  PrometheusMetrics,
  Shutdown,
  startManagementServer,
  warnOfMisspelledVariables,
} from '@tracking/runtime';

/** Milliseconds within which work in progress must finish at shutdown. */
const SHUTDOWN_TIMEOUT_MS = 20_000;
const ENGINE_PROBE_INTERVAL_MS = 2_000;
/** Milliseconds after which an engine counts as not responding. */
const PROBE_TIMEOUT_MS = 3_000;
/** Maximum milliseconds between two attempts to reach an engine during the start. */
const MAX_RETRY_PAUSE_MS = 1_000;

export interface CommonServiceSettings {
  readonly managementHost: string;
  readonly managementPort: number;
  readonly logLevel: LogLevel;
  /** Id of the release that the process runs; undefined outside images. */
  readonly release: string | undefined;
  /** Returns variables that look like misspelled settings. Call it after all settings were read. */
  readonly findMisspelled: () => readonly MisspelledVariable[];
}

/** Reads the settings that all services have. @throws ConfigError */
export function readServiceSettings(read: ConfigReader): CommonServiceSettings {
  return {
    managementHost: read.readSetting('MANAGEMENT_HOST'),
    managementPort: read.readSetting('MANAGEMENT_PORT'),
    logLevel: read.readSetting('LOG_LEVEL'),
    release: read.readSetting('RELEASE'),
    findMisspelled: () => read.findMisspelledVariables(),
  };
}

/** Process of the distributed system with log, metrics, health checks and shutdown. Each app adds its own work. */
export class ServiceProcess {
  readonly clock: Clock = () => new Date();

  readonly metrics: PrometheusMetrics;
  readonly health = new ProcessHealth();
  readonly shutdown: Shutdown;
  private readonly stopping = new AbortController();
  private administration: ManagementHandler | undefined;
  private port = 0;

  private constructor(
    /** Name of the service, the same for all replicas. */
    readonly name: string,
    /** Id of the release; undefined outside images. */
    readonly release: string | undefined,
    readonly logger: Logger,
  ) {
    this.metrics = new PrometheusMetrics(name);
    this.shutdown = new Shutdown(logger, SHUTDOWN_TIMEOUT_MS);
  }

  /** Port of the management server. */
  get managementPort(): number {
    return this.port;
  }

  /**
   * Starts the process: it serves its health, reports that it is not ready yet, and stops on SIGTERM.
   * @throws ConfigError
   */
  static async start(name: string, settings: CommonServiceSettings): Promise<ServiceProcess> {
    const logger = await createLogger({ level: settings.logLevel, service: name });
    warnOfMisspelledVariables(logger, settings.findMisspelled());
    const service = new ServiceProcess(name, settings.release, logger);
    const { metrics, health, shutdown } = service;
    const drain = () => service.startDraining();
    shutdown.shutDownOnUncaughtErrors(drain);
    const address = { host: settings.managementHost, port: settings.managementPort };
    const others: ManagementHandler = (request, response) => service.administration?.(request, response) ?? false;
    const starting = startManagementServer(address, metrics, () => health.createHealthReportForOperators(), others);
    const management = await convertMachineErrorToConfigError('MANAGEMENT_HOST, MANAGEMENT_PORT', starting);
    service.port = management.port;
    shutdown.addShutdownStep('management', () => management.close());
    shutdown.shutDownOnSignals(drain);
    return service;
  }

  /** Adds routes to the management port. */
  addManagementPortRoutes(handler: ManagementHandler): void {
    this.administration = handler;
  }

  /**
   * Watches an engine and reports its last result at `/health/ready`.
   * @param name name of the engine for operators
   * @param probe rejects if the engine does not respond
   */
  addEngineReadinessCheck(name: string, probe: () => Promise<unknown>): void {
    const { signal } = this.stopping;
    const probeRepeatedly = async () => {
      while (!signal.aborted) {
        this.health.setEngineStatus(name, await checkEngineHealthWithTimeout(probe));
        await pauseUntilNextTick(ENGINE_PROBE_INTERVAL_MS, signal);
      }
    };
    this.health.setEngineStatus(name, 'the engine was not checked yet');
    void probeRepeatedly();
  }

  /**
   * Checks in the background whether an engine accepts this process, and waits for the engine if it is not available. If
   * the engine refuses, the process prints one line that names the setting and stops with exit code 1.
   * @param setting name of the setting with the address and credentials
   * @param check rejects with `EngineAccessRefusedError` if the engine refuses
   */
  stopProcessIfEngineRefuses(setting: string, check: () => Promise<unknown>): void {
    this.retryWhile((error) => !(error instanceof EngineAccessRefusedError), check).catch((error: unknown) => {
      if (this.stopping.signal.aborted) return;
      const reason = error instanceof EngineAccessRefusedError ? error.reason : 'the engine could not be checked';
      this.logger.error({ setting, reason }, 'an engine refuses this process');
      process.stderr.write(`${setting}: ${reason}\n`);
      this.shutdown.exitWithFailure(() => this.startDraining());
    });
  }

  /**
   * Retries an action until the engine that it needs is available. An engine that refuses this process counts as not
   * available, because {@link stopProcessIfEngineRefuses} stops the process if the engine continues to refuse.
   * @throws errors that are not caused by an engine; AbortError at shutdown
   */
  retryUntilAvailable<T>(action: () => Promise<T>): Promise<T> {
    return this.retryWhile(() => true, action);
  }

  private async retryWhile<T>(isRetried: (error: UnavailableError) => boolean, action: () => Promise<T>): Promise<T> {
    const { signal } = this.stopping;
    const isTransient = (error: unknown): error is UnavailableError =>
      error instanceof UnavailableError && isRetried(error);
    let said = '';
    const onFailure = (error: unknown) => {
      if (!isTransient(error)) return;
      createRetryCounter(this.metrics)('starting');
      if (error.message !== said) this.logger.warn({ reason: error.message }, 'waiting for an engine');
      said = error.message;
    };
    try {
      return await retry(action, { signal, maxPauseMs: MAX_RETRY_PAUSE_MS, isTransient, onFailure });
    } catch (error) {
      if (error instanceof UnavailableError) signal.throwIfAborted();
      throw error;
    }
  }

  private startDraining(): void {
    this.health.markDraining();
    this.stopping.abort();
  }

  /** Reports that the process is ready, so that orchestrators may send it work. */
  markProcessReady(where: object = {}): void {
    this.health.markProcessStarted();
    this.logger.info({ ...where, management_port: this.managementPort }, 'ready');
  }
}

async function checkEngineHealthWithTimeout(probe: () => Promise<unknown>): Promise<string | undefined> {
  const timeoutController = new AbortController();
  const timeout = pause(PROBE_TIMEOUT_MS, 'the engine did not respond in time', {
    signal: timeoutController.signal,
    ref: false,
  });
  const probing = probe().then(
    () => undefined,
    (error: unknown) => (error instanceof UnavailableError ? error.message : 'fails'),
  );
  try {
    return await Promise.race([probing, timeout]);
  } finally {
    timeout.catch(() => undefined);
    timeoutController.abort();
  }
}

/** Runs a service's `main`. Reports an operator's mistake in one line, and any other error with its stack. */
export async function runServiceMainAndReportErrors<Config>(
  loadConfig: () => Config,
  start: (config: Config) => Promise<void>,
): Promise<void> {
  try {
    await start(loadConfig());
  } catch (error) {
    // The process was stopped while it waited for an engine.
    if (error instanceof Error && error.name === 'AbortError') return;
    const said = error instanceof ConfigError ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${said}\n`);
    process.exit(1);
  }
}
