import { PassThrough } from 'node:stream';
import { createLogger } from './logging.ts';

describe('createLogger', () => {
  it('writes one JSON object a line and hides secrets wherever they stand', async () => {
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
});
