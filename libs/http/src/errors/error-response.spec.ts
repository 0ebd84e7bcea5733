import { HttpException } from '@nestjs/common';
import { DomainError, ERROR_CODES, type ErrorCode, type FieldError } from '@tracking/contracts';
import { BusyError, UnavailableError, WritesRefusedError } from '@tracking/ports';
import {
  toErrorResponse,
  createErrorBody,
  type FailedRequest,
  createProblemDetails,
  getErrorStatus,
  acceptsProblemJson,
} from './error-response.ts';
import { createInvalidRequestError, RequestError } from './request-error.ts';

const fault = (param: string, code: FieldError['code'] = 'invalid_type'): FieldError => ({
  param,
  code,
  message: 'No.',
});

const answer = (error: unknown, progress: FailedRequest['progress'] = 'begun', bodyLimit = 1_048_576) =>
  toErrorResponse(error, { progress, bodyLimit });

describe('getErrorStatus', () => {
  it('maps every code of a type to a status of that type', () => {
    const allowed: Record<string, number[]> = {
      invalid_request: [400, 405, 408, 413, 415, 416, 417, 431, 501],
      authentication: [401],
      permission: [403],
      not_found: [404],
      conflict: [409, 412],
      rate_limit: [429],
      internal: [500, 503, 507],
    };
    for (const [code, type] of Object.entries(ERROR_CODES)) {
      expect(allowed[type]).toContain(getErrorStatus(code as ErrorCode));
    }
  });
});

describe('toErrorResponse', () => {
  it('keeps code, message and details of a domain error', () => {
    const found = answer(new DomainError('limit_exceeded', 'Too many.', [fault('legs', 'limit_exceeded')]));
    expect(found).toMatchObject({ status: 400, code: 'limit_exceeded', message: 'Too many.', unexpected: false });
    expect(found.details).toEqual([fault('legs', 'limit_exceeded')]);
  });

  it('responds with 503 and Retry-After if a queue is full or an engine is lost', () => {
    const busy = answer(new BusyError('shipments', 'too many commands are queued'));
    const lost = answer(new UnavailableError('event store', 'connection refused at 10.0.0.7'));
    expect(busy).toMatchObject({ status: 503, code: 'busy', headers: { 'Retry-After': '1' } });
    expect(lost).toMatchObject({ status: 503, code: 'unavailable', headers: { 'Retry-After': '5' } });
    expect(lost.message).not.toContain('10.0.0.7');
  });

  it('mentions an unknown outcome after a lost engine only if the handler had started', () => {
    const lost = (progress: FailedRequest['progress'], engine = 'event store') =>
      answer(new UnavailableError(engine, 'gone'), progress).message;
    expect(lost('begun')).toBe(
      'The event store does not respond. Whether the write took effect is unknown; send it again.',
    );
    expect(lost('refused')).toBe('The event store does not respond. Nothing was changed; try again.');
    expect(lost('read')).toBe('The event store does not respond; try again.');
    expect(lost('read', 'shipments')).toBe('The service shipments does not respond; try again.');
    expect(lost('read', 'read models')).toBe('The read models do not respond; try again.');
    expect(answer(new WritesRefusedError('storage', 'no room on the disk'))).toMatchObject({
      status: 503,
      code: 'unavailable',
      message: 'The storage accepts no writes at present. Nothing was changed; try again.',
      headers: { 'Retry-After': '5' },
    });
  });

  it('names the invalid field in the message of a feature’s error', () => {
    const refusal = (...details: FieldError[]) =>
      answer(new DomainError('validation_failed', 'The request has invalid fields.', details)).message;
    expect(refusal(fault('url'))).toBe('url: No.');
    expect(refusal({ ...fault('url'), message: 'url must be a string.' })).toBe('url must be a string.');
    expect(refusal(fault('url'), fault('headers.x'))).toBe('2 fields are not valid: url, headers.x.');
  });

  it('includes the size limit in the message about a large body', () => {
    const tooLarge = (bodyLimit: number) => answer(new HttpException('x', 413), 'refused', bodyLimit).message;
    expect(tooLarge(8 * 1_048_576)).toBe('The body is larger than 8 MiB.');
    expect(tooLarge(1_000)).toBe('The body is larger than 1000 bytes.');
  });

  it.each([
    [404, 'not_found', 404],
    [413, 'body_too_large', 413],
    [414, 'not_found', 404],
    [415, 'unsupported_media_type', 415],
    [400, 'validation_failed', 400],
  ])('maps the framework’s status %d to %s', (thrown, code, status) => {
    expect(answer(new HttpException('text of the framework', thrown))).toMatchObject({ code, status });
  });

  it.each([new Error('password=hunter2'), 'thrown text', undefined, new HttpException('x', 500)])(
    'hides the details of an unexpected error',
    (error) => {
      const found = answer(error);
      expect(found).toMatchObject({ status: 500, code: 'internal_error', unexpected: true });
      expect(found.message).not.toContain('hunter2');
    },
  );
});

describe('invalidRequest', () => {
  it('names a single invalid field in the message, and the first of several in param', () => {
    const error = createInvalidRequestError([fault('etd')]);
    expect(error).toMatchObject({ code: 'validation_failed', message: 'etd: No.' });
    expect(createErrorBody(answer(error), 'req_1').error).toEqual({
      type: 'invalid_request',
      code: 'validation_failed',
      message: 'etd: No.',
      param: 'etd',
      details: [fault('etd')],
      request_id: 'req_1',
    });
  });

  it('has the code of the fields if it is one of the promoted codes', () => {
    expect(createInvalidRequestError([fault('legs', 'limit_exceeded'), fault('metadata', 'limit_exceeded')]).code).toBe(
      'limit_exceeded',
    );
    expect(createInvalidRequestError([fault('legs', 'limit_exceeded'), fault('etd')]).code).toBe('validation_failed');
  });
});

describe('problem details', () => {
  it('contains the standard members and our own', () => {
    const found = answer(new RequestError('permission_denied', 'The key lacks it.'));
    expect(createProblemDetails(found, 'req_1', 'https://api.example/docs')).toEqual({
      type: 'https://api.example/docs/errors#permission_denied',
      title: 'Forbidden',
      status: 403,
      detail: 'The key lacks it.',
      error_type: 'permission',
      code: 'permission_denied',
      param: null,
      details: [],
      request_id: 'req_1',
    });
  });

  it.each([
    [undefined, false],
    ['*/*', false],
    ['application/json', false],
    ['application/problem+json', true],
    ['Application/Problem+JSON', true],
    ['application/json, application/problem+json', true],
    ['application/json, application/problem+json;q=0.5', false],
    ['application/json;q=0.1, application/problem+json;q=0.5', true],
    ['application/problem+json;q=0', false],
    ['application/problem+json;q=nonsense', false],
  ])('is requested by Accept %s: %s', (accept, wanted) => {
    expect(acceptsProblemJson(accept)).toBe(wanted);
  });
});
