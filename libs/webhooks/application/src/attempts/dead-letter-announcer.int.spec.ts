import { MessageRefusedError } from '@tracking/ports';
import { eventually } from '@tracking/testing';
import { storeDeadLetters } from '../../test/dead-letters.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import { WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';
import { DEAD_LETTERS_TOPIC } from '../settings.ts';
import {
  DEAD_LETTER_ANNOUNCEMENT_QUEUE,
  DELIVERIES_COLLECTION_SPEC,
  type DeliveryDocument,
  convertToDeliveryDocument,
} from '../store/delivery-document.ts';

let harness: WebhooksTestHarness;
beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
});
afterEach(() => harness.closeWebhooksHarness());

test('publishes a dead letter without its event, or skips it, if the broker refuses it; all others are published', async () => {
  const letters = await storeDeadLetters(harness, 4, { endpoint_id: 'whe_1' });
  const [large, largest] = letters.map(({ id }) => id);
  const deliveries = await harness.engine.documentStore.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC);
  const untold = letters.map((letter) => convertToDeliveryDocument({ ...letter, announced_at: null }));
  await deliveries.writeMany(untold.map((document) => ({ kind: 'upsert', document })));
  const process = new SimulatedKillableProcess();
  const { makeBrokerKillable: wrapBroker } = process;
  process.makeBrokerKillable = (inner) => ({
    ...wrapBroker.call(process, inner),
    publishMessages: (topic, messages) => {
      const told = messages.map(({ value }) => JSON.parse(value) as { readonly id: string; readonly event: unknown });
      const refused = told.findIndex(({ id, event }) => id === largest || (id === large && event !== null));
      if (refused >= 0) return Promise.reject(new MessageRefusedError(topic, refused, 'too large'));
      return inner.publishMessages(topic, messages);
    },
  });
  await harness.startWebhooks({}, process);
  const told = (await harness.readMessages(DEAD_LETTERS_TOPIC, 3)).map(
    ({ value }) => JSON.parse(value) as { id: string },
  );
  expect(told.map(({ id }) => id).toSorted()).toEqual(
    letters
      .map(({ id }) => id)
      .filter((id) => id !== largest)
      .toSorted(),
  );
  expect(told).toContainEqual(expect.objectContaining({ id: large, event: null }));
  await eventually(async () => expect(await deliveries.count({ queue: DEAD_LETTER_ANNOUNCEMENT_QUEUE })).toBe(0));
  const warned = harness.lines.filter(({ message }) => message === 'webhooks: the dead letter topic refused a message');
  expect(warned).toMatchObject([{ level: 'warn', delivery: largest }]);
});
