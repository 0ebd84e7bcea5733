import type { FastifyRequest } from 'fastify';
import { createCommandContext, prefersStrictHandling, readOrCreateTraceparent } from './request.ts';

const request = (headers: Record<string, string>): FastifyRequest =>
  ({
    id: 'req_1',
    headers,
    traceparent: headers['traceparent'],
    commandIdentity: { id: '3f0a8f9e-94a1-4d39-8a3e-0c1c2b3d4e5f', at: '2026-11-21T09:30:00.123Z' },
    principal: {
      type: 'service_account_key',
      credential_id: 'key_1',
      workspace_id: 'wsp_1',
      environment: 'test',
      actor: { type: 'service_account', id: 'sva_1' },
      permissions: new Set(),
    },
  }) as unknown as FastifyRequest;

describe('prefersStrictHandling', () => {
  it.each([
    ['handling=strict', true],
    ['Handling=Strict', true],
    ['return=minimal, handling=strict; wait=5', true],
    ['handling="strict"', true],
    ['handling=lenient', false],
    ['handling=stricter', false],
    ['xhandling=strict', false],
    ['return=minimal', false],
  ])('reads Prefer: %s as %s', (prefer, strict) => {
    expect(prefersStrictHandling(request({ prefer }))).toBe(strict);
  });

  it('is not strict without Prefer', () => {
    expect(prefersStrictHandling(request({}))).toBe(false);
  });
});

describe('createCommandContext', () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

  it('contains the actor, and the id and time of the command', () => {
    expect(createCommandContext(request({ traceparent }))).toEqual({
      id: '3f0a8f9e-94a1-4d39-8a3e-0c1c2b3d4e5f',
      at: '2026-11-21T09:30:00.123Z',
      workspace_id: 'wsp_1',
      environment: 'test',
      actor: { type: 'service_account', id: 'sva_1' },
      request_id: 'req_1',
      traceparent,
      strict: false,
    });
  });

  it.each([
    '',
    'garbage',
    `01-${'0'.repeat(31)}1-00f067aa0ba902b7-01`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`,
    traceparent.toUpperCase(),
    `${traceparent}-more`,
  ])('starts a new trace if the traceparent is %j', (value) => {
    const [first, second] = [1, 2].map(() => readOrCreateTraceparent(request({ traceparent: value })));
    expect(first).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-00$/);
    expect(first).not.toBe(second);
  });

  it('continues the trace of the client', () => {
    expect(readOrCreateTraceparent(request({ traceparent }))).toBe(traceparent);
  });
});
