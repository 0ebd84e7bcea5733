import fc from 'fast-check';
import { ServerSentEventParser } from './events.ts';

const stream =
  'retry: 1500\n\nid: evt_0\n\n: heartbeat\n\nid: evt_1\r\ndata: {"a":\r\ndata:1}\r\n\r\ndata: x\r\revent: other\nid: evt_2\n\ndata: cut off';
const told = [
  { id: 'evt_0', data: '' },
  { id: 'evt_1', data: '{"a":\n1}' },
  { id: 'evt_1', data: 'x' },
  { id: 'evt_2', data: '' },
];

it('reads a stream, however it is cut into pieces', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(stream.length)), (cuts) => {
      const events = new ServerSentEventParser();
      const places = [0, ...cuts.sort((a, b) => a - b), stream.length];
      const pieces = places.map((from, at) => stream.slice(from, places[at + 1] ?? stream.length));
      expect(pieces.flatMap((piece) => events.parseServerSentEventChunk(piece))).toEqual(told);
      expect(events.retry).toBe(1_500);
    }),
  );
});
