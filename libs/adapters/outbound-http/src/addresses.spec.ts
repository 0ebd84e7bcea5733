import { createAddressPolicy } from './addresses.ts';

const strict = createAddressPolicy([]);

describe('addresses that are not public', () => {
  test.each([
    ['unspecified', ['0.0.0.0', '0.0.0.1', '0.255.255.255', '::', '0:0:0:0:0:0:0:0']],
    ['private', ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255']],
    ['carrier-grade NAT', ['100.64.0.0', '100.127.255.255']],
    ['loopback', ['127.0.0.0', '127.0.0.1', '127.1.2.3', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1']],
    ['link-local', ['169.254.0.0', '169.254.255.255', 'fe80::', 'fe80::1', 'febf:ffff::1', 'fe80::1%eth0', '::1%lo']],
    [
      'cloud metadata',
      ['169.254.169.254', '169.254.170.2', '168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'],
    ],
    [
      'documentation',
      [
        '192.0.2.0',
        '192.0.2.255',
        '198.51.100.7',
        '203.0.113.7',
        '2001:db8::',
        '2001:db8:ffff::1',
        '3fff::1',
        '3fff:fff::1',
      ],
    ],
    ['benchmarking', ['198.18.0.0', '198.19.255.255', '2001:2::', '2001:2:0:ffff::1']],
    ['multicast', ['224.0.0.0', '239.255.255.255', 'ff00::', 'ff02::1', 'ffff:ffff::1']],
    ['broadcast', ['255.255.255.255']],
    [
      'reserved',
      ['192.0.0.0', '192.0.0.192', '192.88.99.1', '192.31.196.1', '192.52.193.1', '192.175.48.1', '240.0.0.0'].concat(
        ['255.255.255.254', '2001:1::1', '2001:10::1', '2001:20::1', '2001:1ff:ffff::1', '100::1', '5f00::1'],
        ['1::1', '64:ff9a::1', '64:ff9b:2::1', '1fff::1', '4000::1', '8000::1', 'c000::1', 'fbff::1', 'fe00::1'],
      ),
    ],
    [
      'IPv4-mapped',
      ['::ffff:8.8.8.8', '::ffff:127.0.0.1', '::ffff:7f00:1', '::FFFF:169.254.169.254', '0:0:0:0:0:ffff:a00:1'],
    ],
    ['IPv4-translated', ['::ffff:0:127.0.0.1', '::ffff:0:808:808']],
    ['IPv4-compatible', ['::127.0.0.1', '::7f00:1', '::8.8.8.8', '::2', '::ffff']],
    ['NAT64', ['64:ff9b::', '64:ff9b::8.8.8.8', '64:ff9b::7f00:1', '64:ff9b:1::', '64:ff9b:1:ffff::a9fe:a9fe']],
    ['6to4', ['2002::', '2002:7f00:1::', '2002:0808:0808::1', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff']],
    ['Teredo', ['2001::', '2001:0:4136:e378:8000:63bf:3fff:fdd2']],
    ['unique local', ['fc00::', 'fc00::1', 'fd12:3456:789a::1', 'fdff:ffff::1']],
    ['site-local', ['fec0::', 'feff::1']],
    [
      'malformed',
      [
        '',
        'localhost',
        '127.1',
        '2130706433',
        '0x7f000001',
        '0177.0.0.1',
        '1.2.3.4.5',
        '[::1]',
        '8.8.8.8/32',
        ' 8.8.8.8',
      ],
    ],
  ])('%s', (kind, addresses) => {
    for (const address of addresses) expect([address, strict.describeRefusedAddress(address)]).toEqual([address, kind]);
  });

  test('public addresses are not refused, up to the edges of their ranges', () => {
    const edges = [
      ...['1.0.0.0', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
      ...['128.0.0.0', '168.63.129.15', '168.63.129.17', '169.253.255.255', '169.255.0.0', '172.15.255.255'],
      ...[
        '172.32.0.0',
        '191.255.255.255',
        '192.0.1.0',
        '192.0.3.0',
        '192.167.255.255',
        '192.169.0.0',
        '198.17.255.255',
      ],
      ...['198.20.0.0', '198.51.99.255', '198.51.101.0', '203.0.112.255', '203.0.114.0', '223.255.255.255'],
      ...[
        '2000::1',
        '2001:200::',
        '2001:db7:ffff::',
        '2001:db9::',
        '2001:4860:4860::8888',
        '2003::1',
        '2606:4700::1111',
      ],
      ...['2a00:1450:4001::1', '3ffe:ffff::1', '3fff:1000::1'],
    ];
    for (const address of edges)
      expect([address, strict.describeRefusedAddress(address)]).toEqual([address, undefined]);
  });
});

describe('addresses that the operator allows', () => {
  const policy = createAddressPolicy(['127.0.0.0/8', '10.1.2.3', 'fd00:1::/32', '::1']);

  test('are are exactly those inside the CIDRs', () => {
    for (const address of ['127.0.0.1', '127.255.255.255', '10.1.2.3', 'fd00:1:ffff::1', '::1'])
      expect([address, policy.describeRefusedAddress(address), policy.isAllowedByOperator(address)]).toEqual([
        address,
        undefined,
        true,
      ]);
    for (const address of ['10.1.2.4', '192.168.0.1', 'fd00:2::1', '::2', '169.254.169.254', 'fd00:1::1%eth0'])
      expect([address, policy.isAllowedByOperator(address), policy.describeRefusedAddress(address)]).toEqual([
        address,
        false,
        expect.any(String),
      ]);
  });

  test("do not include IPv6 forms of an IPv4 CIDR's addresses, nor the reverse", () => {
    for (const address of ['::ffff:127.0.0.1', '::127.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::'])
      expect([address, policy.isAllowedByOperator(address)]).toEqual([address, false]);
    expect(createAddressPolicy(['::ffff:0:0/96']).describeRefusedAddress('127.0.0.1')).toBe('loopback');
    expect(createAddressPolicy(['::/0']).describeRefusedAddress('10.0.0.1')).toBe('private');
    expect(createAddressPolicy(['0.0.0.0/0']).describeRefusedAddress('::1')).toBe('loopback');
    expect(createAddressPolicy(['0.0.0.0/0']).describeRefusedAddress('10.0.0.1')).toBeUndefined();
    expect(createAddressPolicy(['::ffff:0:0/96']).describeRefusedAddress('::ffff:127.0.0.1')).toBeUndefined();
  });

  test('a public address is not refused, but not an operator-allowed one', () => {
    expect([policy.describeRefusedAddress('8.8.8.8'), policy.isAllowedByOperator('8.8.8.8')]).toEqual([
      undefined,
      false,
    ]);
  });

  test.each([
    '10.0.0.0/33',
    '10.0.0/8',
    'fd00::/129',
    'localhost',
    '',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    'fe80::1%eth0/64',
    '10.0.0.0/0x8',
  ])('refuses to start with %p, and names it', (cidr) =>
    expect(() => createAddressPolicy(['127.0.0.0/8', cidr])).toThrow(`"${cidr}" is not a CIDR`),
  );
});
