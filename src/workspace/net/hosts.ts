// Hosts as people list them and as addresses name them, brought to one spelling before they are compared.
import { FairleadError } from '../../core/index.ts';

/** A refusal of the network door; its sentence goes to the model as it is. */
export const networkError = (why: string, sentence: string, hint?: string): FairleadError =>
  new FairleadError(`network/${why}`, sentence, { blame: 'model', ...(hint === undefined ? {} : { hint }) });

/** A URL that may be asked at all: http or https, without a name or password in it. */
export function parseHttpUrl(given: string, base?: string): URL {
  if (!URL.canParse(given, base))
    throw networkError('bad-url', 'This is not a URL: give one that begins with https://.');
  const url = new URL(given, base);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw networkError('bad-url', `Only http and https are fetched, not ${url.protocol}`);
  if (url.username || url.password)
    throw networkError('credentials', 'The URL holds a name or password, so nothing was sent.');
  url.hash = '';
  return url;
}

/** The host of a URL in one spelling: lower case, international letters encoded, numbers as an address, no brackets, no last dot. */
export const normalizedHost = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

const effectivePort = (url: URL): string => url.port || (url.protocol === 'https:' ? '443' : '80');

/** Whether a URL's host is among these: `host`, `*.host` for every host below it, either with `:port`. */
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

/** An IPv6 address alone is all colons: brackets tell it from a port. */
const bracketIpv6 = (given: string): string => (/^[^[\]]*:[^[\]]*:/.test(given) ? `[${given}]` : given);
