import type { ConfigReader } from './config.ts';

/** Settings of deliveries; durations in milliseconds. */
export interface WebhookConfig {
  /** Receivers on these addresses are allowed although they are not public. */
  readonly allowedCidrs: readonly string[];
  /** `http:` receivers, inside those addresses only. */
  readonly allowHttp: boolean;
  readonly firstMs: number;
  readonly factor: number;
  readonly capMs: number;
  readonly windowMs: number;
  readonly timeoutMs: number;
  /** An endpoint that failed every attempt for so long gets all that waits, paced, as soon as it answers again. */
  readonly recoveryAfterMs: number;
  /** How long the log of deliveries is kept. */
  readonly retention: { readonly deliveriesMs: number; readonly deadLettersMs: number };
}

/** @throws ConfigError */
export function readWebhookConfig(read: ConfigReader): WebhookConfig {
  return {
    allowedCidrs: read.cidrs('WEBHOOKS_ALLOWED_CIDRS'),
    allowHttp: read.boolean('WEBHOOKS_ALLOW_HTTP', false),
    firstMs: read.duration('WEBHOOKS_RETRY_FIRST', '5s'),
    factor: read.integer('WEBHOOKS_RETRY_FACTOR', 3, 1, 100),
    capMs: read.duration('WEBHOOKS_RETRY_CAP', '24h'),
    windowMs: read.duration('WEBHOOKS_RETRY_WINDOW', '72h'),
    timeoutMs: readWebhookTimeout(read),
    recoveryAfterMs: read.duration('WEBHOOKS_RECOVERY_AFTER', '10m'),
    retention: {
      deliveriesMs: read.duration('RETENTION_DELIVERIES', '30d'),
      deadLettersMs: read.duration('RETENTION_DEAD_LETTERS', '90d'),
    },
  };
}

/** Of one attempt, in milliseconds: whoever waits for one waits longer. @throws ConfigError */
export function readWebhookTimeout(read: ConfigReader): number {
  return read.duration('WEBHOOKS_TIMEOUT', '10s');
}
