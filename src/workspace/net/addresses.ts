// Classifies IP addresses: only public internet addresses are allowed; private, link-local and cloud metadata addresses are refused.
import net, { isIPv4, type BlockList } from 'node:net';

/** Private, shared, loopback, link-local (with cloud metadata), documentation, benchmark, multicast and reserved ranges. */
const nonPublicV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // The management address of Azure machines.
  '168.63.129.16/32',
];

/** Of IPv6 only global unicast is public, except ranges that embed IPv4 addresses or are not routed (Teredo, 6to4, documentation). */
const publicV6 = ['2000::/3'];
const nonPublicV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/** Created at the first check, because most runs need none. */
let blockLists: Readonly<Record<'closed' | 'open' | 'shut', BlockList>> | undefined;

/** Returns true if an address, as a resolver or a URL writes it, is on the public internet. */
export function isPublicAddress(address: string): boolean {
  const { closed, open, shut } = (blockLists ??= {
    closed: createBlockList(nonPublicV4, 'ipv4'),
    open: createBlockList(publicV6, 'ipv6'),
    shut: createBlockList(nonPublicV6, 'ipv6'),
  });
  if (isIPv4(address)) return !closed.check(address, 'ipv4');
  return open.check(address, 'ipv6') && !shut.check(address, 'ipv6');
}

function createBlockList(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new net.BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}
