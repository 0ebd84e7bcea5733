import { jest } from '@jest/globals';
import { eventually } from '@tracking/testing';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import { FlakyProcess } from '../../test/flaky-process.ts';
import { type EndpointOnStage, type RunningWebhooks, WebhooksTestStage } from '../../test/stage.ts';
import { ENDPOINTS_COLLECTION, type EndpointDocument } from '../endpoints/endpoint-document.ts';

jest.setTimeout(60_000);

const DELETED = 'https://deleted.example.com/hooks';
const OTHER = 'https://other.example.com/hooks';
const COUNT = 120;
/** Retries begin after an hour. */
const policy = { firstMs: 3_600_000, factor: 3, capMs: 86_400_000, windowMs: 259_200_000 };

let stage: WebhooksTestStage;
let process: FlakyProcess;
let webhooks: RunningWebhooks;
let endpoint: EndpointOnStage;

const of = ({ id: endpoint_id }: { readonly id: string }) => ({ ...stage.createCommand(), endpoint_id });
const fails = () => createReceiverAnswer(500);
const statuses = async (api: RunningWebhooks) =>
  new Set((await stage.listDeliveries(api, { endpoint_id: endpoint.id })).map(({ status }) => status));
const collection = () => stage.engine.documentStore.collection<EndpointDocument>(ENDPOINTS_COLLECTION);

beforeEach(async () => {
  stage = await WebhooksTestStage.openWebhooksStage();
  process = new FlakyProcess();
  webhooks = await stage.startWebhooks({ policy }, process);
  endpoint = await stage.createEnabledEndpoint(webhooks, DELETED, { event_types: ['shipment.created'] });
  stage.receivers.respondWith(DELETED, fails);
  await stage.publishEvents(...Array.from({ length: COUNT }, () => stage.addEvent()));
  await eventually(async () => {
    const retrying = { endpoint_id: endpoint.id, statuses: ['retrying'] };
    expect(await stage.listDeliveries(webhooks, retrying)).toHaveLength(COUNT);
  });
  process.holdDeliveriesTo = endpoint.id;
});
afterEach(async () => {
  process.releaseWrites();
  await stage.closeWebhooksStage();
});

describe('the backlog of a deleted endpoint', () => {
  test.each(['the same', 'another'])(
    'is discarded after deletion by %s process, without delaying other endpoints',
    async (which) => {
      const passive = await stage.startWebhooks({}, undefined, undefined, true);
      const other = await stage.createEnabledEndpoint(passive, OTHER, { event_types: ['shipment.updated'] });
      stage.receivers.respondWith(OTHER, fails);
      const event = stage.addEvent({ type: 'shipment.updated' });
      await stage.publishEvents(event);
      await eventually(async () =>
        expect(await stage.getDelivery(passive, other.id, event.id)).toMatchObject({ status: 'retrying' }),
      );
      await (which === 'another' ? passive : webhooks).endpoints.remove(of(endpoint));
      await eventually(() => expect(process.atGate).toBe(1));
      const { id: delivery_id } = await stage.getDelivery(passive, other.id, event.id);
      await passive.deliveries.retry({ ...stage.createCommand(), delivery_id });
      await eventually(async () =>
        expect(await stage.getDelivery(passive, other.id, event.id)).toMatchObject({ attempts_count: 2 }),
      );
      expect(await statuses(passive)).toEqual(new Set(['retrying']));
      process.releaseWrites();
      await eventually(async () => expect(await statuses(webhooks)).toEqual(new Set(['discarded'])));
      expect(stage.receivers.listDeliveriesAt(DELETED)).toHaveLength(COUNT);
    },
  );

  test.each(['as this version stores it', 'as an earlier version left it'])(
    'is discarded by another process if the first one dies, %s',
    async (how) => {
      await webhooks.endpoints.remove(of(endpoint));
      await eventually(() => expect(process.atGate).toBe(1));
      process.killProcess();
      const documents = await collection();
      const { backlog: _mark, ...unmarked } = (await documents.get(endpoint.id)) as EndpointDocument;
      if (how === 'as an earlier version left it') await documents.upsert(unmarked);
      const second = await stage.startWebhooks({ policy });
      await eventually(async () => expect(await statuses(second)).toEqual(new Set(['discarded'])));
      await eventually(async () => expect((await documents.get(endpoint.id))?.backlog).toBeUndefined());
    },
  );
});
