import { setTimeout as pause } from 'node:timers/promises';
import { shipment } from './api.ts';
import { drive, driveEvenly } from './load.ts';
import { cpuSeconds } from './machine.ts';
import { type PartOptions, each, paced, say, warm } from './webhooks-paced.ts';
import { WebhooksStage } from './webhooks-stage.ts';

const SLOW = 12;
/** By then each of the slow ones has had as many successes as it may have attempts at once. */
const GROWN_MS = 60_000;
const PENDING = 2_000;

/** One workspace beside another whose receivers answer each delivery with success, after 9 s, and take all they can get. */
export async function neighboursPart({ seconds = 30 }: PartOptions): Promise<void> {
  await WebhooksStage.with(2, async (stage) => {
    const [, neighbour = ''] = stage.keys;
    await stage.endpoint('/ok/1');
    await warm(stage);
    await paced(stage, 'created to delivered, alone', seconds);
    for (let n = 0; n < SLOW; n += 1) await stage.endpoint(`/slow/${n}`, neighbour, { max_concurrency: 100 });
    await drive(stage.server, { connections: 16, seconds: 0, amount: PENDING, key: neighbour }, shipment);
    await pause(GROWN_MS);
    const underWay = await stage.metric('webhook_attempts_in_flight');
    await paced(stage, `beside ${SLOW} that answer after 9 s`, seconds);
    say('  attempts that those held', `${underWay} before, ${await stage.metric('webhook_attempts_in_flight')} after`);
  });
}

const PER_SECOND = 50;

/** What one endpoint whose answers never end costs those who use the API, beside one that fails and beside none. */
export async function hostilePart({ seconds = 20 }: PartOptions): Promise<void> {
  await WebhooksStage.with(1, async (stage) => {
    const { server, keys } = stage;
    const measure = async (name: string) => {
      const cpu = cpuSeconds(server.pid);
      const sent = await driveEvenly(server, { rate: PER_SECOND, seconds, key: keys[0] ?? '' }, shipment);
      const sorted = sent.map(({ ms }) => ms).sort((a, b) => a - b);
      const at = (share: number) => `${(sorted[Math.floor(sorted.length * share)] ?? NaN).toFixed(1)} ms`;
      const used = each(cpuSeconds(server.pid) - cpu, sent.length);
      say(`POST, ${PER_SECOND}/s, beside ${name}`, `p50 ${at(0.5)}  p99 ${at(0.99)}  at most ${at(0.9999)}  ${used}`);
    };
    await warm(stage);
    await measure('none');
    const kinds = ['information103', 'chunkExtension', 'headers', 'chunks'].map((name) => `endless/${name}`);
    for (const path of ['fail/1', ...kinds]) {
      const id = await stage.endpoint(`/${path}`);
      await measure(path);
      await stage.disable(id);
    }
  });
}
