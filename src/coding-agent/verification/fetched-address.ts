// Says whether an address that was fetched may have returned words of the model itself: it carries them, or it is a server of this machine.

const maxQueryChars = 80;
const minTextWords = 4;
/** Base64 of a sentence: a long run of letters of both cases and digits. */
const encodedRun = /[A-Za-z0-9+=]{24}/g;

/** Whether an address carries a text that a server could send back: several words, a long query, or encoded text. */
export function carriesText(address: string): boolean {
  if (!/^https?:\/\//i.test(address)) return true;
  const rest = decode(address.replace(/^https?:\/\/[^/?#]*/i, ''));
  const query = rest.slice(rest.search(/[?#]|$/));
  if (query.length > maxQueryChars) return true;
  if (rest.split(/[\s+]+/).length >= minTextWords) return true;
  return (rest.match(encodedRun) ?? []).some((run) => /[a-z]/.test(run) && /[A-Z]/.test(run));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether an address is on this machine or in its network, where the session could have started a server. */
export function isOwnHost(address: string): boolean {
  const host = /^https?:\/\/(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)/i.exec(address)?.[1]?.toLowerCase() ?? '';
  return (
    host === '' ||
    !/[.:]/.test(host) ||
    /^(?:\d|\[)/.test(host) ||
    /(?:^|\.)(?:localhost|local|internal|lan)$/.test(host)
  );
}
