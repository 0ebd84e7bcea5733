import { InvalidPosition } from '@tracking/ports';
import { BEGINNING, fromPosition, toPosition } from './stored-event.ts';

describe('a position in the log', () => {
  const inOrder = [
    { commit: 0n, prepare: 1n },
    { commit: 9n, prepare: 9n },
    { commit: 10n, prepare: 0n },
    { commit: 10n, prepare: 9n },
    { commit: 10n, prepare: 10n },
    { commit: 255n, prepare: 0n },
    { commit: 2n ** 53n + 1n, prepare: 2n ** 53n },
    { commit: 2n ** 63n - 1n, prepare: 2n ** 63n - 1n },
  ];

  it('sorts as a string as it does in the log', () => {
    const positions = inOrder.map(toPosition);
    expect(positions.toReversed().sort()).toEqual(positions);
    expect(new Set(positions.map(({ length }) => length))).toEqual(new Set([32]));
    expect(positions.every((position) => position > BEGINNING)).toBe(true);
  });

  it('is the same after it was a string', () => {
    expect(inOrder.map(toPosition).map(fromPosition)).toEqual(inOrder);
    expect(fromPosition(BEGINNING)).toBe('start');
  });

  it.each(['', '0', '000000000000000a', 'x'.repeat(32)])('of another store is refused: %j', (position) => {
    expect(() => fromPosition(position)).toThrow(InvalidPosition);
  });
});
