import { parseByteRange } from './document-bytes.controller.ts';

it.each([
  ['bytes=0-0', { start: 0, end: 1 }],
  ['bytes=0-9', { start: 0, end: 10 }],
  ['bytes=9-9', { start: 9, end: 10 }],
  ['bytes=3-', { start: 3, end: 10 }],
  ['bytes=3-99', { start: 3, end: 10 }],
  ['bytes=-1', { start: 9, end: 10 }],
  ['bytes=-99', { start: 0, end: 10 }],
  ['Bytes= 2-4 ', { start: 2, end: 5 }],
])('reads the range reads the range %s of ten bytes', (header, range) => {
  expect(parseByteRange(header, 10)).toEqual(range);
});

it.each(['bytes=10-', 'bytes=10-20', 'bytes=-0', 'bytes=99999999999999999999-'])(
  'rejects %s as no range of ten bytes',
  (header) => {
    expect(parseByteRange(header, 10)).toBeNull();
  },
);

it.each(['bytes=0-1,3-4', 'bytes=', 'bytes=-', 'bytes=5-4', 'bytes=a-b', 'items=0-1', 'bytes=0x1-2', '0-1'])(
  'sends all bytes for %s',
  (header) => {
    expect(parseByteRange(header, 10)).toBeUndefined();
  },
);
