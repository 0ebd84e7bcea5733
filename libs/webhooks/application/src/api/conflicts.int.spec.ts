import type { DocumentStore } from '@tracking/ports';
import { withLaggingReads } from '@tracking/testing';
import { storeDeadLetters } from '../../test/dead-letters.ts';
import { MortalProcess } from '../../test/mortal-process.ts';
import { type RunningWebhooks, WebhooksTestStage } from '../../test/stage.ts';

/** As many requests for one resource as a busy client sends at the same time. */
const REQUESTS = Array.from({ length: 8 }, (_, index) => index);

class LaggingProcess extends MortalProcess {
  override documentStore(store: DocumentStore): DocumentStore {
    return super.documentStore(withLaggingReads(store));
  }
}

let stage: WebhooksTestStage;
let webhooks: RunningWebhooks;
beforeEach(async () => {
  stage = await WebhooksTestStage.open();
  // It only answers, so that nothing but the requests changes what is stored.
  webhooks = await stage.start({}, new LaggingProcess(), stage.receivers, true);
});
afterEach(() => stage.close());

describe('concurrent requests are all carried out', () => {
  test('when they change one endpoint', async () => {
    const { id, version } = await stage.endpoint(webhooks, 'https://a.example.com/hook');
    await Promise.all(
      REQUESTS.map((index) => {
        const fields = { description: `the ${index}th` };
        return webhooks.endpoints.change({ ...stage.command(), endpoint_id: id, fields });
      }),
    );
    const endpoint = await webhooks.endpoints.get({ ...stage.command(), endpoint_id: id });
    expect(endpoint.version).toBe(version + REQUESTS.length);
  });

  test('when they change one delivery or one replay', async () => {
    const { id: endpoint_id } = await stage.endpoint(webhooks, 'https://a.example.com/hook');
    const [dead] = await storeDeadLetters(stage, 1, { endpoint_id });
    const replay = await webhooks.replays.create({ ...stage.command(), endpoint_id, filter: { statuses: ['missed'] } });
    const discard = () => webhooks.deliveries.discard({ ...stage.command(), delivery_id: dead?.id ?? '' });
    const cancel = () => webhooks.replays.cancel({ ...stage.command(), replay_id: replay.id });
    // The fewer there are, the more often the one that is refused repeats before reads show what the other one wrote.
    expect(await Promise.all([discard(), discard()])).toMatchObject([{ status: 'discarded' }, { status: 'discarded' }]);
    expect(await Promise.all([cancel(), cancel()])).toMatchObject([{ status: 'canceled' }, { status: 'canceled' }]);
  });
});
