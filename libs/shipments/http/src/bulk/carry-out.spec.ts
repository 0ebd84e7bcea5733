import { carryOut } from './carry-out.ts';

interface Item {
  readonly n: number;
  readonly group?: string;
}
const items = (count: number, groupOf: (n: number) => string | undefined): Item[] =>
  Array.from({ length: count }, (_, n) => {
    const group = groupOf(n);
    return { n, ...(group !== undefined && { group }) };
  });

describe('carrying out items', () => {
  it('answers in their order, whatever ends first', async () => {
    const ends = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
    const carrying = carryOut(
      items(5, () => undefined),
      () => undefined,
      async ({ n }) => {
        await ends[n]?.promise;
        return n;
      },
    );
    for (const end of ends.reverse()) end.resolve();
    expect(await carrying).toEqual([0, 1, 2, 3, 4]);
  });

  it('keeps the order of a group, and does groups side by side', async () => {
    const begun: number[] = [];
    const held = Promise.withResolvers<void>();
    const carrying = carryOut(
      items(6, (n) => (n % 2 === 0 ? 'even' : undefined)),
      ({ group }) => group,
      async ({ n }) => {
        begun.push(n);
        if (n === 0) await held.promise;
      },
    );
    while (begun.length < 4) await new Promise(setImmediate);
    expect(begun).toEqual([0, 1, 3, 5]);
    held.resolve();
    await carrying;
    expect(begun).toEqual([0, 1, 3, 5, 2, 4]);
  });

  it('does a few at a time', async () => {
    let [underWay, most] = [0, 0];
    await carryOut(
      items(500, () => undefined),
      () => undefined,
      async () => {
        underWay += 1;
        most = Math.max(most, underWay);
        await new Promise(setImmediate);
        underWay -= 1;
      },
    );
    expect(most).toBe(32);
  });
});
