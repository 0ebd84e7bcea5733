import fc from 'fast-check';
import { LastBytesOfStream } from './binary-judge.ts';

describe('the tail of a stream', () => {
  it('contains the last bytes, however the stream is split', () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 25 }), { maxLength: 12 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), pieces, (size, passing) => {
        const tail = new LastBytesOfStream(size);
        for (const piece of passing) tail.keepLastBytes(piece);
        const all = Buffer.concat(passing);
        expect(tail.getLastKeptBytes().equals(all.subarray(Math.max(0, all.length - size)))).toBe(true);
        expect([tail.total, tail.start]).toEqual([all.length, Math.max(0, all.length - size)]);
      }),
    );
  });
});
