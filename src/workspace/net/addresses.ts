// Which network addresses lead into the open internet; all others belong to this machine, its network or its cloud, and are refused.
import net, { isIPv4, type BlockList } from 'node:net';

/** Private, shared, loopback, link-local (where clouds keep their metadata), documentation, benchmark, multicast and reserved ranges. */
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
  // The address through which a machine at Azure is administered.
  '168.63.129.16/32',
];

/** Of IPv6 only global unicast is open, and of that not what stands for an IPv4 address or for nothing (Teredo, 6to4, documentation). */
const publicV6 = ['2000::/3'];
const nonPublicV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/** Made when an address is first looked at: most runs look at none. */
let blockLists: Readonly<Record<'closed' | 'open' | 'shut', BlockList>> | undefined;

/** Whether an address, as a resolver or a URL writes it, is of the open internet. */
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
