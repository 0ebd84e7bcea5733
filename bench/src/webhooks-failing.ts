import { shipment } from './api.ts';
import { drive } from './load.ts';
import { cpuSeconds } from './machine.ts';
import { type PartOptions, each, paced, say, warm } from './webhooks-paced.ts';
import { WebhooksStage } from './webhooks-stage.ts';

const FAILING = 20;

type MakeEndpoints = (stage: WebhooksStage, count: number) => Promise<readonly string[]>;

const at =
  (kind: string): MakeEndpoints =>
  async (stage, count) => {
    const made: string[] = [];
    for (let n = 0; n < count; n += 1) made.push(await stage.endpoint(`/${kind}/${n}`));
    return made;
  };

const KINDS: Readonly<Record<string, MakeEndpoints>> = {
  'answer 500 at once': at('fail'),
  'answer after 9 s': at('slow'),
  'accept and reset': at('reset'),
  'refuse the connection': (stage, count) => stage.refusing(count),
  'flap, a second each': at('flap'),
};

/**
 * A healthy endpoint beside 20 of each kind in turn, each on a server of its own, since what one kind left behind would be
 * the next one's. Beside 20 that answer: what so many deliveries cost when all is well. Alone before and after: what the
 * server's age and all that is stored by then do.
 */
export async function failingPart({ seconds = 30 }: PartOptions): Promise<void> {
  for (const [name, make] of Object.entries({ 'answer well': at('also'), ...KINDS })) {
    await WebhooksStage.with(1, async (stage) => {
      await stage.endpoint('/ok/1');
      await warm(stage);
      await paced(stage, 'alone', seconds);
      const made = await make(stage, FAILING);
      await paced(stage, `beside ${FAILING} that ${name}`, seconds);
      for (const id of made) await stage.disable(id);
      await paced(stage, 'alone again', seconds);
    });
  }
}

const TURNS = 3;
const EVENTS = 6_000;

/** What one endpoint that fails takes of the full rate of a healthy one, by turns on one server for each kind. */
export async function fullRatePart(): Promise<void> {
  for (const [name, make] of Object.entries({ 'answers well': at('also'), ...KINDS })) {
    await WebhooksStage.with(1, async (stage) => {
      await stage.endpoint('/ok/1');
      await drive(stage.server, { connections: 32, seconds: 0, amount: EVENTS, key: stage.keys[0] ?? '' }, shipment);
      await stage.delivered(EVENTS);
      for (let turn = 0; turn < TURNS; turn += 1) {
        await fullRate(stage, 'full rate, alone');
        const made = await make(stage, 1);
        await fullRate(stage, `full rate beside one that ${singular(name)}`);
        for (const id of made) await stage.disable(id);
      }
    });
  }
}

const singular = (name: string) =>
  name.replace(/^(answer|accept|refuse|flap)\b/, '$1s').replace('and reset', 'and resets');

async function fullRate(stage: WebhooksStage, name: string): Promise<void> {
  await stage.reset();
  const [started, cpu] = [Date.now(), cpuSeconds(stage.server.pid)];
  const load = { connections: 32, seconds: 0, amount: EVENTS, key: stage.keys[0] ?? '' };
  const posted = drive(stage.server, load, shipment);
  const { stats } = await stage.delivered(EVENTS);
  await posted;
  const rate = EVENTS / ((stats.last - started) / 1_000);
  say(name, `${rate.toFixed(0)}/s  ${each(cpuSeconds(stage.server.pid) - cpu, EVENTS)}, writes included`);
}
