import type { ObjectStore } from '@tracking/ports';
import { MemoryMeter, noMetrics } from '@tracking/testing';
import { DOCX_PARTS, splitIntoByteChunks, createPdfBytes } from '../test/files.ts';
import { createShipmentId } from '../test/objects.ts';
import { createZip } from '../test/zip.ts';
import { DocumentBytesStore } from './index.ts';

// Not part of `npm test`: the cost of a garbage collection grows with the suites that the process ran before.

const MIB = 2 ** 20;

/** Reads the bytes and keeps none, so that only the memory of this library is measured. */
const putObject: ObjectStore['putObject'] = async (_id, source) => {
  let sizeBytes = 0;
  for await (const bytes of source) sizeBytes += bytes.length;
  return { sizeBytes, sha256: '' };
};

const unused = () => Promise.reject(new Error('not asked'));

describe('the bytes of a document', () => {
  it.each<[string, Buffer, string, Buffer]>([
    ['text', Buffer.from('a;b\n'), 'x;y\n', Buffer.from('c;d')],
    ['XML', Buffer.from('<?xml version="1.0"?><a>'), '<b/>', Buffer.from('</a>')],
    ['PDF', createPdfBytes(), '\0\x01\x02\x03', Buffer.from('%%EOF')],
  ])('need the same memory whatever their size: %s', async (_name, begin, filling, end) => {
    const piece = Buffer.alloc(65_536, filling, 'latin1');
    const memory = new MemoryMeter('buffers and heap');
    async function* large() {
      yield begin;
      for (let n = 0; n < 320; n += 1) {
        if (n % 160 === 159) memory.sampleMemory();
        yield piece;
      }
      yield end;
    }
    const looking = new DocumentBytesStore({
      objects: { putObject, getObject: unused, deleteObject: unused },
      metrics: noMetrics,
    });
    const stored = await looking.storeAndCheckDocumentBytes({
      shipmentId: createShipmentId('s'),
      source: large(),
      limitBytes: 100 * MIB,
    });
    expect(stored.size_bytes).toBeGreaterThan(20 * MIB);
    expect(memory.peakBytes).toBeLessThan(5 * MIB);
  });

  it('need the same memory whatever the size of an archive', async () => {
    const filling = { name: 'word/media/1.bmp', content: Buffer.alloc(16 * MIB, 'x'), isStored: true };
    const bytes = createZip([...DOCX_PARTS, filling]);
    const memory = new MemoryMeter('buffers and heap');
    async function* large() {
      for await (const piece of splitIntoByteChunks(bytes)) {
        yield piece;
      }
      memory.sampleMemory();
    }
    const getObject: ObjectStore['getObject'] = async (_id, { start, end } = { start: 0, end: bytes.length }) => ({
      sizeBytes: bytes.length,
      bytes: splitIntoByteChunks(bytes.subarray(start, end)),
    });
    await new DocumentBytesStore({
      objects: { putObject, getObject, deleteObject: unused },
      metrics: noMetrics,
    }).storeAndCheckDocumentBytes({
      shipmentId: createShipmentId('s'),
      source: large(),
      limitBytes: 100 * MIB,
    });
    expect(memory.peakBytes).toBeLessThan(5 * MIB);
  });
});
