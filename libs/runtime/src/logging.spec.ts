import { PassThrough } from 'node:stream';
import type { Logger } from '@tracking/ports';
import { createLogger, formatError } from './logging.ts';

describe('createLogger', () => {
  it('writes one JSON object per line and hides secrets at any depth', async () => {
    const destination = new PassThrough();
    const logger = await createLogger({ level: 'info', service: 'standalone', destination });
    logger.info(
      { request: { authorization: 'Bearer sk_live_1' }, endpoint: { secret: 'whsec_1' }, key: 'sk_test_2' },
      'hello',
    );
    logger.debug({}, 'not at this level');
    const text = String(destination.read());
    expect(text.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(text)).toMatchObject({ level: 'info', service: 'standalone', msg: 'hello', key: '[redacted]' });
    expect(text).not.toMatch(/sk_|whsec_/);
  });

  describe('on a terminal', () => {
    async function shown(log: (logger: Logger) => void): Promise<string> {
      const destination = Object.assign(new PassThrough(), { isTTY: true });
      log(await createLogger({ level: 'info', service: 'standalone', destination }));
      return String(destination.read());
    }
    const TIME = '\\[\\d\\d:\\d\\d:\\d\\d\\.\\d{3}\\]';

    it('writes one line for each request, with its result', async () => {
      const labels = { method: 'GET', route: '/v1/shipments/:id', status: 200 };
      const who = { client: '127.0.0.1', key_id: 'key_a', workspace_id: 'wsp_a' };
      const text = await shown((logger) =>
        logger.info(
          { request_id: 'req_a', ...labels, path: '/v1/shipments/shp_a', duration_ms: 3.2, ...who },
          'request',
        ),
      );
      expect(text).toMatch(new RegExp(`^${TIME} INFO: GET /v1/shipments/shp_a 200 3\\.2 ms  request_id=req_a\n$`));
    });

    it('writes one line for other records, with their fields and without secrets', async () => {
      const fields = { subscriber: 'shipments', counts: { parked: 2 }, absent: undefined, secret: 'whsec_1' };
      const text = await shown((logger) => logger.warn(fields, 'a subscriber waits'));
      const line = 'a subscriber waits  subscriber=shipments  counts=\\{"parked":2\\}  secret=\\[redacted\\]';
      expect(text).toMatch(new RegExp(`^${TIME} WARN: ${line}\n$`));
    });

    it('shows the stack of an error below its line', async () => {
      const text = await shown((logger) => logger.error({ service: 's', err: new Error('broken') }, 'failed'));
      expect(text.split('\n')[0]).toMatch(/ERROR: failed$/);
      expect(text).toMatch(/\n {4}err: Error: broken\n +at .*logging\.spec/);
    });

    it('replaces control characters', async () => {
      const path = '/\u001b[2J\u009b1m\u202e';
      const text = await shown((logger) => {
        logger.info({ method: 'GET', path, status: 404, duration_ms: 1 }, 'request');
        logger.info({ path }, 'another');
      });
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    });
  });
});

describe('formatError', () => {
  it('shows the stack and the causes', () => {
    const shown = formatError(new Error('outer', { cause: new TypeError('inner', { cause: 'a text' }) }));
    expect(shown).toMatch(/^Error: outer\n +at [^]*\ncaused by TypeError: inner\n +at [^]*\ncaused by a text$/);
  });

  it('limits the number of causes', () => {
    const error = new Error('round');
    error.cause = error;
    expect(formatError(error).split('caused by').length).toBeLessThan(10);
  });

  it.each([
    ['mongodb://user:hunter2@host:27017/x', 'mongodb://[redacted]@host:27017/x'],
    ['key sk_live_abc-DEF is wrong', 'key sk_live_[redacted] is wrong'],
    ['whsec_a+b/c= is wrong', 'whsec_[redacted] is wrong'],
    ['Authorization: Bearer abc.def-1', 'Authorization: Bearer [redacted]'],
  ])('hides the secret in %s', (text, shown) => {
    expect(formatError(text)).toBe(shown);
    expect(formatError(new Error(text))).toContain(shown);
    expect(formatError(new Error(text))).not.toContain(text);
  });

  it('shows no other properties of an error', () => {
    expect(formatError(Object.assign(new Error('refused'), { config: { password: 'hunter2' } }))).not.toContain(
      'hunter2',
    );
  });
});
