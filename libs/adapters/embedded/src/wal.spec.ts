import { computeMaxWalBytes, repeatCheckpointUntilSmall, type WalState } from './wal.ts';

const CHECKPOINT_BYTES = 1_000_000;
const FULL = computeMaxWalBytes(CHECKPOINT_BYTES);
const left = (outstanding: number, total = FULL): WalState => ({ total, outstanding, failure: null });

describe('a checkpoint of the write-ahead log', () => {
  it.each<[string, readonly WalState[], number]>([
    ['once where the log may still grow', [left(900_000, FULL - 1)], 1],
    ['once where little is left', [left(400_000)], 1],
    ['until little is left', [left(3_000_000), left(400_001), left(10)], 3],
    ['four times at most', [left(3_000_000)], 4],
    ['until it fails', [left(3_000_000), { ...left(3_000_000), failure: 'disk I/O error' }], 2],
  ])('passes %s', (_name, states, passes) => {
    const seen: WalState[] = [];
    const checkpoint = () => {
      const state = states[Math.min(seen.length, states.length - 1)] ?? left(0);
      seen.push(state);
      return state;
    };
    expect(repeatCheckpointUntilSmall(checkpoint, CHECKPOINT_BYTES)).toBe(seen.at(-1));
    expect(seen).toHaveLength(passes);
  });
});
