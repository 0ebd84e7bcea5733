import { BlockList, isIP } from 'node:net';

type Subnets = readonly (readonly [kind: string, ...subnets: string[]])[];

/**
 * IP addresses that no receiver on the public internet has. Sources: the IANA registries of special-purpose IPv4 and
 * IPv6 addresses (RFC 6890), and the metadata addresses of cloud providers. The first entry that contains an address
 * determines its kind.
 */
const NON_PUBLIC_V4: Subnets = [
  // Azure's metadata address is in a public range; Alibaba's is in the carrier-grade NAT range.
  ['cloud metadata', '169.254.169.254/32', '169.254.170.2/32', '168.63.129.16/32', '100.100.100.200/32'],
  ['unspecified', '0.0.0.0/8'],
  ['private', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  ['carrier-grade NAT', '100.64.0.0/10'],
  ['loopback', '127.0.0.0/8'],
  ['link-local', '169.254.0.0/16'],
  ['documentation', '192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'],
  ['benchmarking', '198.18.0.0/15'],
  ['multicast', '224.0.0.0/4'],
  ['broadcast', '255.255.255.255/32'],
  [
    'reserved',
    '192.0.0.0/24',
    '192.31.196.0/24',
    '192.52.193.0/24',
    '192.88.99.0/24',
    '192.175.48.0/24',
    '240.0.0.0/4',
  ],
];

const NON_PUBLIC_V6: Subnets = [
  ['cloud metadata', 'fd00:ec2::254/128', 'fd20:ce::254/128'],
  ['unspecified', '::/128'],
  ['loopback', '::1/128'],
  // Addresses that embed an IPv4 address. No public receiver needs them, and each could bypass the table above.
  ['IPv4-mapped', '::ffff:0:0/96'],
  ['IPv4-translated', '::ffff:0:0:0/96'],
  ['IPv4-compatible', '::/96'],
  ['NAT64', '64:ff9b::/96', '64:ff9b:1::/48'],
  ['6to4', '2002::/16'],
  ['Teredo', '2001::/32'],
  ['benchmarking', '2001:2::/48'],
  ['documentation', '2001:db8::/32', '3fff::/20'],
  ['reserved', '2001::/23'],
  ['unique local', 'fc00::/7'],
  ['link-local', 'fe80::/10'],
  ['site-local', 'fec0::/10'],
  ['multicast', 'ff00::/8'],
];

/** The only IPv6 range from which public addresses are assigned. */
const GLOBAL_UNICAST_V6 = createBlockListFromCidrs(['2000::/3']);

const V4_BLOCK_LISTS = NON_PUBLIC_V4.map(([kind, ...subnets]) => ({ kind, list: createBlockListFromCidrs(subnets) }));
const V6_BLOCK_LISTS = NON_PUBLIC_V6.map(([kind, ...subnets]) => ({ kind, list: createBlockListFromCidrs(subnets) }));

/** Decides which IP addresses may be connected to. */
export interface AddressPolicy {
  /**
   * Returns the kind of a non-public IP address, such as `loopback`; undefined if the address is public or the operator
   * allowed it.
   */
  describeRefusedAddress(address: string): string | undefined;
  /** Returns true if the address is in one of the operator's allowed CIDRs. */
  isAllowedByOperator(address: string): boolean;
}

/**
 * Creates the policy.
 * @param allowedCidrs ranges such as `10.0.0.0/8` or `fd00::/8`; an address without a prefix is a range of one. An IPv6
 *   address that embeds an IPv4 address is allowed by IPv6 CIDRs only.
 * @throws Error naming an entry that is not a CIDR
 */
export function createAddressPolicy(allowedCidrs: readonly string[]): AddressPolicy {
  const isV6 = (cidr: string) => cidr.includes(':');
  const allowedV4 = createBlockListFromCidrs(allowedCidrs.filter((cidr) => !isV6(cidr)));
  const allowedV6 = createBlockListFromCidrs(allowedCidrs.filter(isV6));

  const isAllowedByOperator = (address: string): boolean => {
    if (address.includes('%')) return false;
    return isIP(address) === 4
      ? allowedV4.check(address, 'ipv4')
      : isIP(address) === 6 && allowedV6.check(address, 'ipv6');
  };

  return {
    isAllowedByOperator,
    describeRefusedAddress(address) {
      return isAllowedByOperator(address) ? undefined : getAddressKind(address);
    },
  };
}

function getAddressKind(address: string): string | undefined {
  // An address with a zone id names a network interface of this machine, so it is never public.
  if (address.includes('%')) return 'link-local';
  switch (isIP(address)) {
    case 4:
      return V4_BLOCK_LISTS.find(({ list }) => list.check(address, 'ipv4'))?.kind;
    case 6:
      return (
        V6_BLOCK_LISTS.find(({ list }) => list.check(address, 'ipv6'))?.kind ??
        (GLOBAL_UNICAST_V6.check(address, 'ipv6') ? undefined : 'reserved')
      );
    default:
      return 'malformed';
  }
}

/**
 * Creates a block list for one address family. A list for both families would also match IPv4 addresses embedded in
 * IPv6 addresses, and the reverse.
 */
function createBlockListFromCidrs(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = '', prefix, ...rest] = cidr.split('/');
    const family = isIP(network);
    const bits =
      prefix === undefined ? (family === 4 ? 32 : 128) : Number(/^\d{1,3}$/.test(prefix) ? prefix : Number.NaN);
    if (family === 0 || network.includes('%') || rest.length > 0 || !(bits <= (family === 4 ? 32 : 128)))
      throw new Error(`"${cidr}" is not a CIDR such as 10.0.0.0/8 or fd00::/8`);
    list.addSubnet(network, bits, family === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
