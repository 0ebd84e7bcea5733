import { MongoStub } from './mongo-stub.ts';
import { explainWhyQueryPlansUnavailable, listPlanStages } from './query-plans.ts';

const IXSCAN = { stage: 'IXSCAN', indexName: 'owner_1' };
const FETCH = { stage: 'FETCH', inputStage: IXSCAN };

it.each([
  ['MongoDB', FETCH, ['FETCH', 'IXSCAN']],
  ['MongoDB with its newer execution engine', { queryPlan: FETCH, slotBasedPlan: {} }, ['FETCH', 'IXSCAN']],
  [
    'a sharded cluster',
    { stage: 'SINGLE_SHARD', shards: [{ winningPlan: FETCH }] },
    ['SINGLE_SHARD', 'FETCH', 'IXSCAN'],
  ],
  ['an alternative of several indexes', { stage: 'OR', inputStages: [IXSCAN, IXSCAN] }, ['OR', 'IXSCAN', 'IXSCAN']],
])('the plan of %s has all stages', (_title, winningPlan, stages) => {
  expect(listPlanStages({ queryPlanner: { winningPlan } }).map(({ stage }) => stage)).toEqual(stages);
});

it.each([
  ['of MongoDB', { queryPlanner: { winningPlan: FETCH } }, undefined],
  [
    'of another form',
    { queryPlanner: { Plan: { 'Node Type': 'Index Scan' } } },
    expect.stringMatching(/^the test needs/),
  ],
])('plans %s can be read, or the reason is stated', async (_title, explained, reason) => {
  const stub = await MongoStub.startMongoStub((command) =>
    'explain' in command ? { ...explained, ok: 1 } : undefined,
  );
  expect(await explainWhyQueryPlansUnavailable(stub.formatMongoConnectionString())).toEqual(reason);
  await stub.closeMongoStub();
});
