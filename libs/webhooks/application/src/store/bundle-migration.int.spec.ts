import { eventually } from '@tracking/testing';
import { SCOPE, WebhooksTestStage } from '../../test/stage.ts';
import type { BundleDocument } from './bundle-migration.ts';
import { deliveryId } from './delivery-document.ts';

const URL_A = 'https://a.example.com/hook';

test('what a development version left in bundles is delivered, and the bundles are gone', async () => {
  const stage = await WebhooksTestStage.open();
  const before = await stage.start();
  const { id: endpoint_id } = await stage.endpoint(before, URL_A);
  const event = stage.event();
  await stage.publish(event);
  await eventually(() => expect(stage.receivers.at(URL_A)).toHaveLength(1));
  await before.stop();

  const store = stage.engine.documentStore;
  const bundles = await store.collection<BundleDocument>({ name: 'webhook_bundles', indexes: [] });
  const at = stage.now();
  const bundled = [1, 2, 3].map((n) => {
    const id = deliveryId(endpoint_id, { id: `evt_${n}`, created_at: at });
    const payload_id = `${event.id}.2026-11-01`;
    return { id, event_id: `evt_${n}`, event_created_at: at, payload_id, created_at: at };
  });
  await bundles.insert({ id: 'bdl_1', ...SCOPE, endpoint_id, event_type: event.type, deliveries: bundled });

  const after = await stage.start();
  await eventually(() => expect(stage.receivers.at(URL_A)).toHaveLength(4));
  await eventually(async () => expect(await stage.deliveries(after, { statuses: ['succeeded'] })).toHaveLength(4));
  expect(await store.collectionNames('webhook_bundles')).toEqual([]);
  await stage.close();
});
