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
  /** Of an endpoint without a success for so long the workspace's others are told. */
  readonly failingAfterMs: number;
  /** How long the log of deliveries is kept. */
  readonly retention: { readonly deliveriesMs: number; readonly deadLettersMs: number };
}

/** @throws ConfigError */
export function readWebhookConfig(read: ConfigReader): WebhookConfig {
  return {
    allowedCidrs: read.get('WEBHOOKS_ALLOWED_CIDRS'),
    allowHttp: read.get('WEBHOOKS_ALLOW_HTTP'),
    firstMs: read.get('WEBHOOKS_RETRY_FIRST'),
    factor: read.get('WEBHOOKS_RETRY_FACTOR'),
    capMs: read.get('WEBHOOKS_RETRY_CAP'),
    windowMs: read.get('WEBHOOKS_RETRY_WINDOW'),
    timeoutMs: read.get('WEBHOOKS_TIMEOUT'),
    recoveryAfterMs: read.get('WEBHOOKS_RECOVERY_AFTER'),
    failingAfterMs: read.get('WEBHOOKS_FAILING_AFTER'),
    retention: {
      deliveriesMs: read.get('RETENTION_DELIVERIES'),
      deadLettersMs: read.get('RETENTION_DEAD_LETTERS'),
    },
  };
}
