import { determineAttemptOutcome, computeFailureReportTime } from './outcome.ts';

const now = Date.parse('2026-01-01T00:00:00.000Z');
const answered = (statusCode: number, retryAfter?: string, date?: string) =>
  determineAttemptOutcome({ kind: 'response', statusCode, retryAfter, date }, now);

describe('an attempt', () => {
  test('succeeds with 2xx only', () => {
    expect([200, 201, 204, 299].map((status) => answered(status).kind)).toEqual(Array(4).fill('success'));
    expect([199, 304, 400, 404, 500, 503].map((status) => answered(status).kind)).toEqual(Array(6).fill('failure'));
  });

  test('fails with a redirect, and reports it', () => {
    expect(answered(307)).toMatchObject({ kind: 'failure', error: { code: 'redirect_not_followed' } });
  });

  test('fails without an answer, with the given reason', () => {
    const failure = { kind: 'failure', code: 'timeout', message: 'no answer in 10 s' } as const;
    expect(determineAttemptOutcome(failure, now)).toEqual({
      kind: 'failure',
      error: { code: 'timeout', message: 'no answer in 10 s' },
    });
  });

  test('explains a 413, and how to receive smaller requests', () => {
    const explain = (sentForm?: 'full' | 'thin') => {
      const outcome = determineAttemptOutcome(
        { kind: 'response', statusCode: 413, ...(sentForm && { sentForm }) },
        now,
      );
      return outcome.kind === 'failure' && outcome.error;
    };
    const message = 'The endpoint answered 413: the request is too large for it. Raise the limit of the receiver';
    expect(explain('full')).toEqual({
      code: 'unexpected_status',
      message: `${message}, or set \`payload\` of the endpoint to \`thin\`.`,
    });
    expect(explain('thin')).toEqual({ code: 'unexpected_status', message: `${message}.` });
    expect(explain()).toEqual({ code: 'unexpected_status', message: `${message}.` });
  });

  test('detects with a 410 that the endpoint is gone', () => {
    expect(answered(410)).toMatchObject({ kind: 'gone', error: { code: 'unexpected_status' } });
  });

  test.each([429, 503])('holds the endpoint after %i with Retry-After', (status) => {
    expect(answered(status, '120')).toMatchObject({ kind: 'hold', holdMs: 120_000 });
    expect(answered(status, 'Thu, 01 Jan 2026 00:05:00 GMT')).toMatchObject({ kind: 'hold', holdMs: 300_000 });
  });

  test.each(['Thursday, 01-Jan-26 00:05:00 GMT', 'Thu Jan  1 00:05:00 2026'])(
    'accepts a date in a former HTTP format, such as %s',
    (date) => expect(answered(503, date)).toMatchObject({ kind: 'hold', holdMs: 300_000 }),
  );

  test('holds for an hour at most', () => {
    expect(answered(429, '86400')).toMatchObject({ kind: 'hold', holdMs: 3_600_000 });
    expect(answered(429, 'Fri, 01 Jan 2027 00:00:00 GMT')).toMatchObject({ kind: 'hold', holdMs: 3_600_000 });
  });

  test.each(['0', '00', 'Thu, 01 Jan 2026 00:00:00 GMT', 'Wed, 31 Dec 2025 00:00:00 GMT', 'Wed Dec 31 00:00:00 2025'])(
    'holds for a second, instead of an ordinary failure, if Retry-After is %j',
    (value) => expect(answered(429, value)).toMatchObject({ kind: 'hold', holdMs: 1_000 }),
  );

  test.each([
    ['an hour behind', 'Wed, 31 Dec 2025 23:00:30 GMT', 'Wed, 31 Dec 2025 23:00:00 GMT'],
    ['an hour ahead', 'Thu, 01 Jan 2026 01:00:30 GMT', 'Thu, 01 Jan 2026 01:00:00 GMT'],
  ])('measures a date by the clock of a receiver that is %s', (_, retryAfter, date) => {
    expect(answered(503, retryAfter, date)).toMatchObject({ kind: 'hold', holdMs: 30_000 });
  });

  test('measures a date by its own clock if the Date header is malformed', () => {
    expect(answered(503, 'Thu, 01 Jan 2026 00:05:00 GMT', 'now')).toMatchObject({ kind: 'hold', holdMs: 300_000 });
  });

  test.each([
    undefined,
    '',
    '-5',
    '1.5',
    'soon',
    '2026-01-01T01:00:00Z',
    'Thu, 01 Jan 2026 00:05:00 +0100',
    'Thu, 01-Jan-26 00:05:00 GMT',
    'Thu Jan 1 00:05:00 2026',
    'Thu Jan  1 00:05:00 2026 GMT',
    'Thu, 99 Jan 2026 00:05:00 GMT',
  ])('is an ordinary failure when Retry-After is %j', (value) => expect(answered(429, value).kind).toBe('failure'));

  test('does not hold for other statuses', () => {
    expect(answered(500, '120').kind).toBe('failure');
  });
});

const at = (minute: number) => Date.UTC(2026, 4, 1, 12, minute);
const pause = (from: number, to: number | null) => ({
  from: new Date(at(from)).toISOString(),
  to: to === null ? null : new Date(at(to)).toISOString(),
});
const HOUR = 3_600_000;

describe('a failing endpoint is reported', () => {
  test('an hour after the first failure', () => {
    expect(computeFailureReportTime({ since: at(0), latest: at(30) }, [], HOUR)).toBe(at(60));
    expect(computeFailureReportTime({ since: at(10), latest: at(10) }, [pause(0, 5)], HOUR)).toBe(at(70));
  });

  test('not while it is not attempted', () => {
    expect(computeFailureReportTime({ since: at(0), latest: at(30) }, [pause(31, null)], HOUR)).toBe(Infinity);
  });

  test('an hour after it was enabled again, if it was attempted since and failed', () => {
    const pauses = [pause(5, 6), pause(31, 45)];
    expect(computeFailureReportTime({ since: at(0), latest: at(30) }, pauses, HOUR)).toBe(Infinity);
    expect(computeFailureReportTime({ since: at(0), latest: at(45) }, pauses, HOUR)).toBe(at(105));
  });
});
