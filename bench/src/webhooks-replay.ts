import { shipment } from './api.ts';
import { drive } from './load.ts';
import { type PartOptions, PER_SECOND, paced, say, warm } from './webhooks-paced.ts';
import { WebhooksStage } from './webhooks-stage.ts';

/** Of live events, at a time. */
const SECONDS = 20;

interface Replay {
  readonly id: string;
  readonly status: string;
  readonly matched: number;
  readonly done: number;
  readonly failed: number;
}

/** Live events beside a replay of all that an endpoint missed. The part's number is that of missed events. */
export async function replayPart({ seconds: missed = 100_000 }: PartOptions): Promise<void> {
  await WebhooksStage.with(1, async (stage) => {
    const key = stage.keys[0] ?? '';
    await drive(stage.server, { connections: 32, seconds: 0, amount: missed, key }, shipment);
    const endpoint = await stage.endpoint('/ok/1');
    await warm(stage);
    await paced(stage, `created to delivered, ${PER_SECOND}/s`, SECONDS);
    const asked = { statuses: ['missed'] };
    let replay = await stage.call<Replay>('POST', `/v1/webhook_endpoints/${endpoint}/replay`, asked);
    while (replay.status === 'running') {
      const [done, began] = [replay.done, Date.now()];
      await paced(stage, `the same beside a replay of ${missed}`, SECONDS);
      replay = await stage.call<Replay>('GET', `/v1/webhook_replays/${replay.id}`);
      const rate = ((replay.done - done) * 1_000) / (Date.now() - began);
      const { status, matched, failed } = replay;
      say('  replayed', `${rate.toFixed(0)}/s, ${replay.done} of ${matched} taken, ${failed} failed, ${status}`);
    }
    await paced(stage, 'the same alone again', SECONDS);
  });
}
