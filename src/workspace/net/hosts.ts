// Normalizes hosts of URLs and of host lists before they are compared.
import { FairleadError } from '../../core/index.ts';

/** Creates a network error. The model receives its sentence unchanged. */
export const networkError = (why: string, sentence: string, hint?: string): FairleadError =>
  new FairleadError(`network/${why}`, sentence, { blame: 'model', ...(hint === undefined ? {} : { hint }) });

/** Parses a URL that may be requested: http or https, without user name and password. */
export function parseHttpUrl(given: string, base?: string): URL {
  if (!URL.canParse(given, base)) throw networkError('bad-url', 'This is not a URL: it must start with https://.');
  const url = new URL(given, base);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw networkError('bad-url', `Only http and https are fetched, not ${url.protocol}`);
  if (url.username || url.password)
    throw networkError('credentials', 'The URL contains a user name or password, so nothing was sent.');
  url.hash = '';
  return url;
}

/** Returns the host of a URL in normal form: lower case, punycode, no brackets, no trailing dot. */
export const normalizedHost = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

const effectivePort = (url: URL): string => url.port || (url.protocol === 'https:' ? '443' : '80');

/** Returns true if the host of a URL is in a list: `host`, `*.host` for every subdomain, either with `:port`. */
export function matchesHostList(url: URL, list: readonly string[]): boolean {
  const host = normalizedHost(url);
  return list.some((each) => {
    const [, below, name = '', port] = /^(\*\.)?(.*?)(?::(\d+))?$/.exec(bracketIpv6(each)) ?? [];
    if (!URL.canParse(`http://${name}`)) return false;
    const wanted = normalizedHost(new URL(`http://${name}`));
    if (port !== undefined && port !== effectivePort(url)) return false;
    return below ? host.endsWith(`.${wanted}`) : host === wanted;
  });
}

/** Adds brackets to an IPv6 address, to distinguish its colons from a port. */
const bracketIpv6 = (given: string): string => (/^[^[\]]*:[^[\]]*:/.test(given) ? `[${given}]` : given);
