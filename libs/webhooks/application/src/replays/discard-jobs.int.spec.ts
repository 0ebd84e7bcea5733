import { jest } from '@jest/globals';
import { eventually } from '@tracking/testing';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import { ProcessWithFlakyDocumentStore } from '../../test/flaky-process.ts';
import { type HarnessEndpoint, type RunningWebhooks, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';
import { ENDPOINTS_COLLECTION_SPEC, type EndpointDocument } from '../endpoints/endpoint-document.ts';

jest.setTimeout(60_000);

const DELETED = 'https://deleted.example.com/hooks';
const OTHER = 'https://other.example.com/hooks';
const COUNT = 120;
/** Retries begin after an hour. */
const policy = { firstMs: 3_600_000, factor: 3, capMs: 86_400_000, windowMs: 259_200_000 };

let harness: WebhooksTestHarness;
let process: ProcessWithFlakyDocumentStore;
let webhooks: RunningWebhooks;
let endpoint: HarnessEndpoint;

const of = ({ id: endpoint_id }: { readonly id: string }) => ({ ...harness.createSampleWebhookCommand(), endpoint_id });
const fails = () => createReceiverAnswer(500);
const statuses = async (api: RunningWebhooks) =>
  new Set((await harness.listDeliveries(api, { endpoint_id: endpoint.id })).map(({ status }) => status));
const collection = () => harness.engine.documentStore.collection<EndpointDocument>(ENDPOINTS_COLLECTION_SPEC);

beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
  process = new ProcessWithFlakyDocumentStore();
  webhooks = await harness.startWebhooks({ policy }, process);
  endpoint = await harness.createEnabledEndpoint(webhooks, DELETED, { event_types: ['shipment.created'] });
  harness.receivers.setFakeReceiverBehaviour(DELETED, fails);
  await harness.publishEventsToBrokerForTest(
    ...Array.from({ length: COUNT }, () => harness.addAcknowledgedEventToLog()),
  );
  await eventually(async () => {
    const retrying = { endpoint_id: endpoint.id, statuses: ['retrying'] };
    expect(await harness.listDeliveries(webhooks, retrying)).toHaveLength(COUNT);
  });
  process.holdDeliveriesTo = endpoint.id;
});
afterEach(async () => {
  process.releaseWrites();
  await harness.closeWebhooksHarness();
});

describe('the backlog of a deleted endpoint', () => {
  test.each(['the same', 'another'])(
    'is discarded after deletion by %s process, without delaying other endpoints',
    async (which) => {
      const passive = await harness.startWebhooks({}, undefined, undefined, true);
      const other = await harness.createEnabledEndpoint(passive, OTHER, { event_types: ['shipment.updated'] });
      harness.receivers.setFakeReceiverBehaviour(OTHER, fails);
      const event = harness.addAcknowledgedEventToLog({ type: 'shipment.updated' });
      await harness.publishEventsToBrokerForTest(event);
      await eventually(async () =>
        expect(await harness.getDelivery(passive, other.id, event.id)).toMatchObject({ status: 'retrying' }),
      );
      await (which === 'another' ? passive : webhooks).endpoints.remove(of(endpoint));
      await eventually(() => expect(process.atGate).toBe(1));
      const { id: delivery_id } = await harness.getDelivery(passive, other.id, event.id);
      await passive.deliveries.retry({ ...harness.createSampleWebhookCommand(), delivery_id });
      await eventually(async () =>
        expect(await harness.getDelivery(passive, other.id, event.id)).toMatchObject({ attempts_count: 2 }),
      );
      expect(await statuses(passive)).toEqual(new Set(['retrying']));
      process.releaseWrites();
      await eventually(async () => expect(await statuses(webhooks)).toEqual(new Set(['discarded'])));
      expect(harness.receivers.listDeliveriesReceivedAtUrl(DELETED)).toHaveLength(COUNT);
    },
  );

  test.each(['as this version stores it', 'as an earlier version left it'])(
    'is discarded by another process if the first one dies, %s',
    async (how) => {
      await webhooks.endpoints.remove(of(endpoint));
      await eventually(() => expect(process.atGate).toBe(1));
      process.simulateProcessKill();
      const documents = await collection();
      const { backlog: _mark, ...unmarked } = (await documents.get(endpoint.id)) as EndpointDocument;
      if (how === 'as an earlier version left it') await documents.upsert(unmarked);
      const second = await harness.startWebhooks({ policy });
      await eventually(async () => expect(await statuses(second)).toEqual(new Set(['discarded'])));
      await eventually(async () => expect((await documents.get(endpoint.id))?.backlog).toBeUndefined());
    },
  );
});
