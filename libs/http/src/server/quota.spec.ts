import { toClientNetworkPrefix, listClientNetworkPrefixes } from './quota.ts';

describe('network of an address', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::1', '2001:db8:1:2'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
    ['::', '0:0:0:0'],
    ['socket', 'socket'],
  ])('%s belongs to %s', (address, network) => {
    expect(toClientNetworkPrefix(address)).toBe(network);
  });
});

describe('networks that share work fairly', () => {
  it.each([
    ['203.0.113.7', ['203.0.113']],
    ['::ffff:203.0.113.7', ['203.0.113']],
    ['2001:db8:1:2345::1', ['2001:db8:1', '2001:db8:1:35']],
    ['2001:db8:1:23ff::1', ['2001:db8:1', '2001:db8:1:35']],
    ['2001:db8:1:2::1', ['2001:db8:1', '2001:db8:1:0']],
    ['socket', ['socket']],
  ])('%s belongs to %j', (address, networks) => {
    expect(listClientNetworkPrefixes(address)).toEqual(networks);
  });
});
