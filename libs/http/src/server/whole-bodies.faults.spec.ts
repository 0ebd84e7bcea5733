import { PassThrough } from 'node:stream';
import { MemoryMeter } from '@tracking/testing';
import type { FastifyRequest } from 'fastify';
import { readWholeBody } from './whole-bodies.ts';

// Not part of `npm test`: the cost of a garbage collection grows with the suites that the process ran before.

const BODY_BYTES = 2 ** 18;

it('takes little memory for a body that arrives byte by byte', async () => {
  const payload = new PassThrough();
  const request = { headers: {}, routeOptions: { bodyLimit: BODY_BYTES }, principal: null, ip: '10.0.0.1' };
  const result = new Promise<Buffer | undefined>((resolve, reject) => {
    readWholeBody(request as unknown as FastifyRequest, payload, (error, body) =>
      error ? reject(error) : resolve(body),
    );
  });
  const received = Buffer.from('0123456789abcdef'.repeat(16));
  const memory = new MemoryMeter('buffers and heap');
  for (let n = 0; n < BODY_BYTES; n += 1) payload.emit('data', received.subarray(n % 256, (n % 256) + 1));
  memory.sampleMemory();
  payload.end();
  expect(await result).toEqual(Buffer.alloc(BODY_BYTES, received));
  expect(memory.peakBytes).toBeLessThan(4 * BODY_BYTES);
});
