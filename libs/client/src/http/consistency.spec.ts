import { ConsistencyTokens } from './consistency.ts';

describe('the tokens of a client', () => {
  it('are one, while one write follows the other', () => {
    const tokens = new ConsistencyTokens();
    expect(tokens.header).toBeUndefined();
    tokens.wrote('a', undefined);
    tokens.wrote('b', 'a');
    tokens.wrote('b', 'b');
    expect(tokens.header).toBe('b');
  });

  it('are those of all writes that were side by side, until one that knew them is answered', () => {
    const tokens = new ConsistencyTokens('a');
    tokens.wrote('c', 'a');
    tokens.wrote('b', 'a');
    expect(tokens.header).toBe('c, b');
    tokens.wrote('d', 'c, b');
    expect(tokens.header).toBe('d');
    tokens.add('x, d');
    expect(tokens.header).toBe('x, d');
    tokens.forget('x');
    expect(tokens.header).toBe('d');
  });

  it('fit into a header, however many writes are side by side', () => {
    const tokens = new ConsistencyTokens();
    for (let n = 0; n < 1_000; n += 1) tokens.wrote(`t${n}`, undefined);
    expect(tokens.header?.split(', ')).toHaveLength(16);
    expect(tokens.header).toMatch(/t999$/);
  });
});
