import { createAddressPolicy } from './addresses.ts';
import { parseReceiverUrl } from './target.ts';

const strict = { addresses: createAddressPolicy([]), allowHttp: false };
const dev = { addresses: createAddressPolicy(['127.0.0.0/8']), allowHttp: true };

describe('URLs of receivers', () => {
  test.each([
    ['https://hooks.example.com/in?x=1&y=%20', { origin: 'https://hooks.example.com', path: '/in?x=1&y=%20' }],
    ['https://hooks.example.com', { origin: 'https://hooks.example.com', path: '/' }],
    ['https://hooks.example.com:443/', { origin: 'https://hooks.example.com', path: '/' }],
    ['https://hooks.example.com:8443/', { origin: 'https://hooks.example.com:8443', path: '/' }],
    ['https://HOOKS.example.com./a', { origin: 'https://hooks.example.com', path: '/a' }],
    ['https://bücher.example/ü', { origin: 'https://xn--bcher-kva.example', path: '/%C3%BC' }],
    ['https://my_service.internal.example/', { origin: 'https://my_service.internal.example', path: '/' }],
    ['https://8.8.8.8/', { origin: 'https://8.8.8.8', path: '/' }],
    ['https://[2606:4700::1111]:8443/', { origin: 'https://[2606:4700::1111]:8443', path: '/' }],
  ])('%s is accepted', (url, target) => expect(parseReceiverUrl(url, strict)).toEqual(target));

  test.each([
    ['http://hooks.example.com/', 'https://'],
    ['ftp://hooks.example.com/', 'https://'],
    ['file:///etc/passwd', 'https://'],
    ['javascript:alert(1)', 'https://'],
    ['hooks.example.com/in', 'absolute URL'],
    ['//hooks.example.com/in', 'absolute URL'],
    ['https://', 'absolute URL'],
    ['', 'absolute URL'],
    ['https://[fe80::1%25eth0]/', 'absolute URL'],
    [`https://hooks.example.com/${'a'.repeat(2048)}`, 'absolute URL'],
    ['https://user:secret@hooks.example.com/', 'credentials'],
    ['https://user@hooks.example.com/', 'credentials'],
    ['https://:secret@hooks.example.com/', 'credentials'],
    ['https://hooks.example.com/#top', 'fragment'],
    ['https://hooks.example.com/#', 'fragment'],
    ['https://hooks.example.com:25/', 'port 25'],
    ['https://hooks.example.com:22/', 'port 22'],
    ['https://hooks.example.com:0/', 'port 0'],
    ['https://hooks.example.com:6667/', 'port 6667'],
    ['https://a..b/', 'host name'],
    [`https://${'a'.repeat(64)}.example/`, 'host name'],
    ['https://a~b.example/', 'host name'],
    ['https://*.example.com/', 'host name'],
  ])('%s is refused: %s', (url, reason) => {
    expect(parseReceiverUrl(url, strict)).toEqual({
      code: 'url_not_allowed',
      message: expect.stringContaining(reason),
    });
  });

  test.each([
    ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001', '127.0.0.1.'],
    ...['①②⑦.0.0.1', '127。0。0。1', '%31%32%37.0.0.1', '10.0.0.1', '0', '0.0.0.0', '169.254.169.254', '0xa9fea9fe'],
    ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:8.8.8.8]', '[::127.0.0.1]', '[64:ff9b::8.8.8.8]'],
    ...['[2002:7f00:1::]', '[2001::1]', '[fe80::1]', '[fd00:ec2::254]', '[ff02::1]', '255.255.255.255', '224.0.0.1'],
    ...['localhost', 'LOCALHOST', 'localhost.', 'api.localhost'],
  ])('https://%s/ is refused without querying a name server', (host) => {
    expect(parseReceiverUrl(`https://${host}/`, strict)).toEqual({
      code: 'address_not_allowed',
      message: expect.any(String),
    });
  });

  test('with plain http allowed: only inside the operator’s networks, as far as known without a name server', () => {
    expect(parseReceiverUrl('http://127.0.0.1:8080/in', dev)).toEqual({ origin: 'http://127.0.0.1:8080', path: '/in' });
    expect(parseReceiverUrl('http://localhost:8080/in', dev)).toEqual({ origin: 'http://localhost:8080', path: '/in' });
    expect(parseReceiverUrl('http://receiver/in', dev)).toEqual({ origin: 'http://receiver', path: '/in' });
    expect(parseReceiverUrl('https://127.0.0.1/', dev)).toEqual({ origin: 'https://127.0.0.1', path: '/' });
    expect(parseReceiverUrl('http://8.8.8.8/', dev)).toMatchObject({ code: 'address_not_allowed' });
    expect(parseReceiverUrl('http://10.0.0.1/', dev)).toMatchObject({ code: 'address_not_allowed' });
    expect(parseReceiverUrl('http://[::ffff:127.0.0.1]/', dev)).toMatchObject({ code: 'address_not_allowed' });
    expect(parseReceiverUrl('http://127.0.0.1/', { ...dev, allowHttp: false })).toMatchObject({
      code: 'url_not_allowed',
    });
    expect(parseReceiverUrl('http://127.0.0.1/', { ...strict, allowHttp: true })).toMatchObject({
      code: 'address_not_allowed',
    });
  });
});
