import { ConnectionError, RateLimitError } from '../errors.ts';
import { ConsistencyTokens, computeRetryDelay } from './requester.ts';

const backoff = { first: 250, most: 10_000 };
const broken = new ConnectionError('', { outcomeUnknown: true });
const asked = (value: string) =>
  new RateLimitError({ status: 429, headers: { 'retry-after': value }, error: { message: '' } });

it('doubles the wait up to a maximum, and randomizes half of it', () => {
  const bounds = [1, 2, 3, 6, 7, 50].map((attempt) =>
    [0, 1].map((random) => computeRetryDelay(attempt, broken, backoff, random)),
  );
  expect(bounds).toEqual([
    [125, 250],
    [250, 500],
    [500, 1_000],
    [4_000, 8_000],
    [5_000, 10_000],
    [5_000, 10_000],
  ]);
});

it('waits at least the requested time, in seconds or until a date', () => {
  expect([0, 1].map((random) => computeRetryDelay(1, asked('30'), backoff, random))).toEqual([30_000, 33_000]);
  expect(computeRetryDelay(1, asked('Thu, 01 Jan 1970 00:00:00 GMT'), backoff, 1)).toBe(0);
  expect(asked(new Date(Date.now() + 60_000).toUTCString()).retryAfter).toBeGreaterThan(30);
  expect(asked('soon').retryAfter).toBeUndefined();
});

describe('consistency tokens of a client', () => {
  it('are one token after sequential writes', () => {
    const tokens = new ConsistencyTokens();
    expect(tokens.header).toBeUndefined();
    tokens.recordConsistencyTokenOfWrite('a', undefined);
    tokens.recordConsistencyTokenOfWrite('b', 'a');
    tokens.recordConsistencyTokenOfWrite('b', 'b');
    expect(tokens.header).toBe('b');
  });

  it('are those of all concurrent writes, until the response of a write that included them', () => {
    const tokens = new ConsistencyTokens('a');
    tokens.recordConsistencyTokenOfWrite('c', 'a');
    tokens.recordConsistencyTokenOfWrite('b', 'a');
    expect(tokens.header).toBe('c, b');
    tokens.recordConsistencyTokenOfWrite('d', 'c, b');
    expect(tokens.header).toBe('d');
    tokens.addConsistencyToken('x, d');
    expect(tokens.header).toBe('x, d');
    tokens.forgetRefusedConsistencyTokens('x');
    expect(tokens.header).toBe('d');
  });

  it('fit into a header after any number of concurrent writes', () => {
    const tokens = new ConsistencyTokens();
    for (let n = 0; n < 1_000; n += 1) tokens.recordConsistencyTokenOfWrite(`t${n}`, undefined);
    expect(tokens.header?.split(', ')).toHaveLength(16);
    expect(tokens.header).toMatch(/t999$/);
  });
});
