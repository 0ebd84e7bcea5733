import { ACCESS_BY_OPERATION } from '@tracking/http';
import { createPropertyTestOptions } from '@tracking/testing';
import fc from 'fast-check';
import { FuzzedApi } from './fuzz/fuzzed-api.ts';
import { generateOperationRequests } from './fuzz/requests.ts';

/** Number of generated requests for each operation. The smaller number applies to the first run of a contributor. */
const [ROUNDS, FEW_ROUNDS] = [150, 6];
/** Milliseconds that fast-check may use to find the smallest failing request. */
const PATIENCE_MS = 600_000;

let api: FuzzedApi;
beforeAll(async () => {
  api = await FuzzedApi.startFuzzedApi();
});
afterAll(() => api.closeFuzzedApi());

it('is of every operation of the description', () => {
  expect([...api.description.operations.keys()].sort()).toEqual(Object.keys(ACCESS_BY_OPERATION).sort());
});

/** Operations that remove resources come last, so that the other operations find some. */
const ordered = Object.keys(ACCESS_BY_OPERATION).sort(
  (one, other) => Number(isRemoval(one)) - Number(isRemoval(other)),
);

function isRemoval(id: string): boolean {
  return /^(delete|discard|end|revoke)/.test(id);
}

describe('whatever is asked, the answer is as described, and what is refused writes nothing', () => {
  it.each(ordered)(
    '%s',
    async (id) => {
      const operation = api.description.getOpenApiOperationByIdOrThrow(id);
      const requests = generateOperationRequests(operation, api.values);
      const property = fc.asyncProperty(requests, (drawn) => api.sendRequestAndCheckResponse(operation, drawn));
      await fc.assert(property, createPropertyTestOptions(ROUNDS, FEW_ROUNDS));
    },
    PATIENCE_MS,
  );
});

it('is about what is done, too, not only about what is refused', () => {
  expect(api.successRate).toBeGreaterThan(0.2);
});
