// Finds the hosts that a word of a command names. A host is certain only if every program reads the same host from the word.

const maxSchemeLength = 20;
const schemeCharacter = /[a-z0-9+.-]/i;

/** Returns the host of a URL in normal form, as clients parse it; undefined if it has none. */
export function parseUrlHost(address: string): string | undefined {
  try {
    return new URL(address).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '') || undefined;
  } catch {
    return undefined;
  }
}

/** Returns true if the whole word is an address with a plain host name and without a user name: every program requests the same host. */
export const isCertainAddress = (word: string): boolean =>
  /^https?:\/\/[a-z0-9.-]{1,253}(?::\d{1,5})?(?:\/[\w.~$&*+,;=:/?%#()-]*)?$/i.test(word) &&
  parseUrlHost(word) !== undefined;

/** The hosts that a word may name. */
export type AddressReading = {
  readonly hosts: readonly string[];
  /** True if programs may read another host than these. */
  readonly isUncertain: boolean;
};

/** Finds every host that a program could read from a word. `isNetworkOperand` if a word without a scheme is an address too. */
export function readAddresses(word: string, isNetworkOperand: boolean): AddressReading {
  const hosts = new Set<string>();
  let isUncertain = false;
  const add = (text: string): void => {
    const host = parseUrlHost(text);
    if (host === undefined) isUncertain = true;
    else hosts.add(host);
  };
  for (let at = word.indexOf('://'); at >= 0; at = word.indexOf('://', at + 3)) {
    let start = at;
    while (start > 0 && at - start < maxSchemeLength && schemeCharacter.test(word[start - 1] ?? '')) start -= 1;
    if (start === at) continue;
    const authority = readAuthority(word, at + 3);
    const scheme = word.slice(start, at).replace(/^[^a-z]+/i, '') || 'http';
    add(`${scheme}://${authority}`);
    if (isPlainAuthority(authority)) continue;
    isUncertain = true;
    for (const piece of splitAuthority(authority)) add(`http://${piece}`);
  }
  if (isNetworkOperand && !word.startsWith('-') && !isCertainAddress(word)) {
    const authority = readAuthority(word.replace(/^[a-z]{1,10}:\/{1,3}/i, ''), 0);
    for (const piece of [authority, ...splitAuthority(authority)]) {
      const host = parseUrlHost(`http://${piece}`);
      if (host !== undefined) hosts.add(host);
    }
    isUncertain ||= !isPlainAuthority(authority);
  }
  return { hosts: [...hosts], isUncertain };
}

const isPlainAuthority = (authority: string): boolean => /^[a-z0-9.-]+(?::\d*)?$/i.test(authority);

const maxPieces = 8;

/** A user name, a backslash, a quote or a brace may end the host for one program and not for another. */
const splitAuthority = (authority: string): readonly string[] =>
  authority
    .split(/[@\\'"{},\s]/)
    .filter((piece) => piece !== '')
    .slice(-maxPieces);

const maxAuthorityLength = 1000;

/** Returns the text from here to the next slash, question mark or hash. */
function readAuthority(word: string, start: number): string {
  const rest = word.slice(start, start + maxAuthorityLength);
  const end = rest.search(/[/?#]/);
  return end < 0 ? rest : rest.slice(0, end);
}
