import { setTimeout as pause } from 'node:timers/promises';
import { shipment } from './api.ts';
import { drive, driveEvenly } from './load.ts';
import { cpuSeconds } from './machine.ts';
import type { ReceiverStats, WebhooksStage } from './webhooks-stage.ts';

export const PER_SECOND = 100;

export interface PartOptions {
  /** Duration of the parts that have one, in seconds; each has its own default. Of the replay it is the number of events. */
  readonly seconds: number | undefined;
}

export const say = (name: string, figures: string) => process.stdout.write(`${name.padEnd(42)} ${figures}\n`);
export const each = (cpu: number, count: number) => `${((cpu * 1_000) / count).toFixed(2)} CPU s per 1,000`;
export const latency = ({ p50, p99, greatest }: ReceiverStats) =>
  `p50 ${p50} ms  p99 ${p99} ms  at most ${greatest} ms`.padEnd(44);

/**
 * From an event's creation to its arrival, so with the write, the read models and the publisher; and from the answer to
 * the write, when it was stored but may not be published yet.
 */
export async function paced(
  stage: WebhooksStage,
  name: string,
  seconds: number,
  { rate = PER_SECOND, endpoints = 1 } = {},
): Promise<void> {
  await stage.reset(true);
  const cpu = cpuSeconds(stage.server.pid);
  const sent = await driveEvenly(stage.server, { rate, seconds, key: stage.keys[0] ?? '' }, shipment);
  const { stats } = await stage.delivered(sent.length * endpoints);
  say(name, `${latency(stats)}${each(cpuSeconds(stage.server.pid) - cpu, sent.length)}  (${sent.length} events)`);
  // Of several endpoints, the first to have it.
  const arrivals = (await (await fetch(`${stage.receiver.url}/arrivals`)).json()) as Record<string, number>;
  const waits = sent
    .map(({ request: { body = '{}' }, answeredAt }) => {
      const { external_id } = JSON.parse(body) as { external_id: string };
      return Math.max(0, (arrivals[external_id] ?? NaN) - answeredAt);
    })
    .sort((a, b) => a - b);
  const at = (share: number) => waits[Math.floor(waits.length * share)] ?? NaN;
  say('  from the answer to the write', `p50 ${at(0.5)} ms  p99 ${at(0.99)} ms`);
}

/** Has it served for a while, and be done with it. */
export async function warm(stage: WebhooksStage): Promise<void> {
  await drive(stage.server, { connections: 16, seconds: 3, key: stage.keys[0] ?? '' }, shipment);
  await pause(1_000);
}
