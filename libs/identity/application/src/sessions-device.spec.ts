import { describeDevice } from './sessions.ts';

const MOZILLA = 'Mozilla/5.0';
const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';

describe('the device of a session', () => {
  it.each([
    [`${MOZILLA} (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0`, 'Firefox on Windows'],
    [`${MOZILLA} (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/140.0.0.0 Safari/537.36`, 'Chrome on Windows'],
    [`${MOZILLA} (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/140.0.0.0 Safari/537.36 Edg/140.0`, 'Edge on Windows'],
    [`${MOZILLA} (X11; Linux x86_64) ${WEBKIT} Chrome/140.0.0.0 Safari/537.36 OPR/120.0`, 'Opera on Linux'],
    [`${MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/19.0 Safari/605.1.15`, 'Safari on macOS'],
    [
      `${MOZILLA} (iPhone; CPU iPhone OS 19_0 like Mac OS X) ${WEBKIT} Version/19.0 Mobile Safari/604.1`,
      'Safari on iOS',
    ],
    [`${MOZILLA} (iPhone; CPU iPhone OS 19_0 like Mac OS X) ${WEBKIT} CriOS/140 Mobile Safari/604.1`, 'Chrome on iOS'],
    [`${MOZILLA} (Linux; Android 16; Pixel) ${WEBKIT} Chrome/140.0.0.0 Mobile Safari/537.36`, 'Chrome on Android'],
    [`${MOZILLA} (X11; CrOS x86_64 16000.0.0) ${WEBKIT} Chrome/140.0.0.0 Safari/537.36`, 'Chrome on ChromeOS'],
    ['curl/8.14.1', 'curl/8.14.1'],
    ['axios/1.11.0 something', 'axios/1.11.0'],
    [`${'x'.repeat(5_000)}`, 'x'.repeat(50)],
    ['<script>alert(1)</script>', 'unknown'],
    ['', 'unknown'],
    [undefined, 'unknown'],
  ])('is described from %j as %s', (userAgent, device) => {
    expect(describeDevice(userAgent)).toBe(device);
  });
});
