import { PassThrough } from 'node:stream';
import { BusyError } from '@tracking/ports';
import type { FastifyRequest } from 'fastify';
import { BYTES_PER_MIB } from './route-bodies.ts';
import { addUnfinishedBodyBytes, readWholeBody, UnfinishedBodies } from './whole-bodies.ts';

/** A body of this owner, with the error that it was refused with. */
function bodyOf(owner: string) {
  const body = {
    owner,
    bytes: 0,
    refused: undefined as Error | undefined,
    refuse: (error: Error) => void (body.refused = error),
  };
  return body;
}

describe('incomplete bodies', () => {
  it('of one owner may hold half of the bytes', () => {
    const bodies = new UnfinishedBodies(100);
    const [first, second] = [bodyOf('a'), bodyOf('a')];
    bodies.addReceivedBytesAndEnforceLimits(first, 50);
    expect(first.refused).toBeUndefined();
    bodies.addReceivedBytesAndEnforceLimits(second, 1);
    expect([first.refused, second.refused]).toEqual([undefined, expect.any(BusyError)]);
  });

  it('are refused at the owner that holds the most, the latest first', () => {
    const bodies = new UnfinishedBodies(100);
    const [early, late, other, newcomer] = [bodyOf('large'), bodyOf('large'), bodyOf('b'), bodyOf('c')];
    bodies.addReceivedBytesAndEnforceLimits(early, 30);
    bodies.addReceivedBytesAndEnforceLimits(late, 20);
    bodies.addReceivedBytesAndEnforceLimits(other, 40);
    bodies.addReceivedBytesAndEnforceLimits(newcomer, 20);
    expect([early, late, other, newcomer].map(({ refused }) => refused !== undefined)).toEqual([
      false,
      true,
      false,
      false,
    ]);
  });

  it('no longer count when they are complete or refused', () => {
    const bodies = new UnfinishedBodies(100);
    for (let n = 0; n < 10; n += 1) {
      const body = bodyOf('a');
      bodies.addReceivedBytesAndEnforceLimits(body, 50);
      bodies.untrackUnfinishedRequestBody(body);
      expect(body.refused).toBeUndefined();
    }
  });
});

describe('the owner of an incomplete body', () => {
  const [STRANGER, NEIGHBOR, OTHER] = ['2001:db8:1:2::1', '2001:db8:1:2::9', '2001:db8:1:3::1'];

  /** Holds the share of the first owner, and returns whether a further byte of the second one is refused. */
  function sharesBytes(first: object, second: object): boolean {
    let isRefused = false;
    const ends = [
      addUnfinishedBodyBytes(first as FastifyRequest, 24 * BYTES_PER_MIB, () => expect('the first body').toBe('held')),
      addUnfinishedBodyBytes(second as FastifyRequest, 1, () => (isRefused = true)),
    ];
    for (const end of ends) end();
    return isRefused;
  }

  it('is the network without credentials, and the workspace with credentials', () => {
    const from = (ip: string | undefined, workspace_id?: string) => ({
      ip,
      principal: workspace_id && { workspace_id },
    });
    expect(sharesBytes(from(STRANGER), from(NEIGHBOR))).toBe(true);
    expect(sharesBytes(from(STRANGER), from(OTHER))).toBe(false);
    expect(sharesBytes(from(STRANGER, 'wsp_1'), from(OTHER, 'wsp_1'))).toBe(true);
    expect(sharesBytes(from(STRANGER, 'wsp_1'), from(STRANGER, 'wsp_2'))).toBe(false);
    expect(sharesBytes(from(STRANGER), from(STRANGER, 'wsp_1'))).toBe(false);
  });
});

describe('a body that is read as a whole', () => {
  const read = (payload: PassThrough, headers: object = {}, bodyLimit = 5) =>
    new Promise<string>((resolve) => {
      const request = { headers, routeOptions: { bodyLimit }, principal: null, ip: '10.0.0.1' };
      readWholeBody(request as unknown as FastifyRequest, payload, (error, body) =>
        resolve(error?.message ?? String(body)),
      );
    });

  it('is passed on when all of it has arrived', async () => {
    const payload = new PassThrough();
    const result = read(payload);
    payload.write('ab');
    payload.end('cde');
    expect(await result).toBe('abcde');
  });

  it('has all bytes in their order, however they are split', async () => {
    const text = Array.from({ length: 30_000 }, (_, n) => `${n} `).join('');
    for (const sizes of [[1], [1, 70_000], [40_000, 3], [65_536], [text.length]]) {
      const payload = new PassThrough();
      const result = read(payload, {}, text.length);
      for (let at = 0, n = 0; at < text.length; n += 1) {
        const size = sizes[n % sizes.length] ?? 1;
        payload.write(text.slice(at, at + size));
        at += size;
      }
      payload.end();
      expect((await result) === text).toBe(true);
    }
  });

  it('is refused by its declared length, before any of it is read', async () => {
    const payload = new PassThrough();
    expect(await read(payload, { 'content-length': '6' })).toBe('The body is larger than 5 bytes.');
    expect(payload.listenerCount('data')).toBe(0);
  });

  it('is refused when it exceeds the limit, and the rest is not read', async () => {
    const payload = new PassThrough();
    const result = read(payload);
    payload.write('abc');
    payload.write('def');
    expect(await result).toBe('The body is larger than 5 bytes.');
    expect([payload.isPaused(), payload.listenerCount('data')]).toEqual([true, 0]);
  });

  it('reports the error of a connection that breaks off', async () => {
    const payload = new PassThrough();
    const result = read(payload);
    payload.destroy(new Error('aborted'));
    expect(await result).toBe('aborted');
  });
});
