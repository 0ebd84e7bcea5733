// Runs before every suite of a project that stores documents: fails suites whose queries read more rows than they
// return, or whose operations on sharded collections lack the shard key.
import { findInefficientQueries, resetWatchedQueries } from './watched-queries.ts';
import { findOperationsOnAllShards, forgetOperationsWithoutShardKey } from './watched-shard-keys.ts';

beforeAll(() => {
  resetWatchedQueries();
  forgetOperationsWithoutShardKey();
});
afterAll(() => {
  expect(findInefficientQueries()).toEqual([]);
  expect(findOperationsOnAllShards()).toEqual([]);
});
