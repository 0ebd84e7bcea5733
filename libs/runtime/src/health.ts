export type HealthStatus = 'starting' | 'ready' | 'degraded' | 'draining';

export interface HealthReport {
  readonly status: HealthStatus;
  /** What each engine last answered: `ok`, or why it does not. */
  readonly engines: Readonly<Record<string, string>>;
  /** 503 before the first successful start and while draining; else 200, so that nothing takes away what still works. */
  readonly httpStatus: 200 | 503;
}

/** What a process says of itself to orchestrators. */
export class Health {
  private phase: 'starting' | 'serving' | 'draining' = 'starting';
  private readonly engines = new Map<string, string>();

  /** @param problem one line without secrets; undefined when the engine answers */
  engine(name: string, problem?: string): void {
    this.engines.set(name, problem ?? 'ok');
  }

  started(): void {
    if (this.phase === 'starting') this.phase = 'serving';
  }

  draining(): void {
    this.phase = 'draining';
  }

  report(): HealthReport {
    const degraded = [...this.engines.values()].some((state) => state !== 'ok');
    const status = this.phase === 'serving' ? (degraded ? 'degraded' : 'ready') : this.phase;
    return { status, engines: Object.fromEntries(this.engines), httpStatus: this.phase === 'serving' ? 200 : 503 };
  }
}
