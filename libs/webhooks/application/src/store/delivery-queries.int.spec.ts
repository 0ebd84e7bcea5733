import type { Collection, Query } from '@tracking/ports';
import { storeDeadLetters } from '../../test/dead-letters.ts';
import { SCOPE, WebhooksTestStage } from '../../test/stage.ts';
import { DELIVERIES, type DeliveryDocument } from './delivery-document.ts';
import { DeliveryQueries } from './delivery-queries.ts';

let stage: WebhooksTestStage;
beforeEach(async () => {
  stage = await WebhooksTestStage.open();
});
afterEach(() => stage.close());

/** Queries, and how many entries of the index lie in the ranges that they asked for. */
async function countedQueries() {
  const stored = await stage.engine.documentStore.collection<DeliveryDocument>(DELIVERIES);
  const looked = { at: 0 };
  const find = async (query: Query) => {
    const { event_created_at: _time, ...range } = query.filter;
    const inRange = await stored.count(range);
    looked.at += inRange;
    return stored.find(query);
  };
  const deliveries = { find } as unknown as Collection<DeliveryDocument>;
  const nothing = {} as Collection<never>;
  return { queries: new DeliveryQueries(deliveries, nothing, nothing), looked };
}

const ago = (ms: number) => new Date(Date.parse(stage.now()) - ms).toISOString();

test('a list of what happened lately looks at nothing that was recorded long before', async () => {
  const endpoint_id = 'whe_1';
  await storeDeadLetters(stage, 100, { endpoint_id, at: ago(86_400_000) });
  const late = await storeDeadLetters(stage, 2, { endpoint_id });
  for (const filter of [{ endpoint_id }, {}]) {
    const { queries, looked } = await countedQueries();
    const { items } = await queries.list({ scopes: [SCOPE], filter: { ...filter, since: ago(60_000) }, limit: 50 });
    expect(items.map(({ id }) => id).toSorted()).toEqual(late.map(({ id }) => id).toSorted());
    expect(looked.at).toBe(late.length);
    const after = [ago(0), ''];
    expect(
      (await queries.list({ scopes: [SCOPE], filter: { ...filter, since: ago(60_000) }, limit: 50, after })).items,
    ).toHaveLength(2);
  }
});
