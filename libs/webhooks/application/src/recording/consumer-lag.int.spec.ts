import { eventually } from '@tracking/testing';
import { FlakyProcess } from '../../test/flaky-process.ts';
import { MortalProcess } from '../../test/mortal-process.ts';
import { WebhooksTestStage } from '../../test/stage.ts';

const DEADLINE = { deadlineMs: 20_000 };

describe('what operators see of webhooks that stand still', () => {
  let stage: WebhooksTestStage;
  beforeEach(async () => void (stage = await WebhooksTestStage.open()));
  afterEach(() => stage.close());

  test('is how many events wait, also where nobody takes them', async () => {
    const idle = new MortalProcess();
    const { broker } = idle;
    const goOn = Promise.withResolvers<void>();
    idle.broker = (inner) => {
      const own = broker.call(idle, inner);
      return { ...own, consume: (...given) => goOn.promise.then(() => own.consume(...given)) };
    };
    const { metrics } = await stage.start({ lagPollMs: 5 }, idle);
    await stage.publish(stage.event(), stage.event(), stage.event());
    await eventually(() => expect(metrics.value('webhook_events_waiting')).toBe(3), DEADLINE);
    goOn.resolve();
    await eventually(() => expect(metrics.value('webhook_events_waiting')).toBe(0), DEADLINE);
  });

  test('is how often it was tried in vain', async () => {
    const flaky = new FlakyProcess();
    const { metrics } = await stage.start({}, flaky);
    flaky.down = true;
    const tries = () => metrics.value('retries_total{what="looking for what other processes left"}');
    await eventually(() => expect(tries()).toBeGreaterThan(2));
    flaky.down = false;
  });
});
