// What goes wrong between us and a model's server, as typed errors: who has to act, whether to try again, when, and what to do.
import { FairleadError, type ErrorDetails } from '../../core/index.ts';
import { faultKind, readErrorBody, statusIn } from './fault-kinds.ts';
import { retryDelay, type HeaderMap } from './retry-after.ts';

/** Whom an error speaks of. */
export type Who = {
  /** The provider's name as the user knows it, for example `groq`. */
  readonly name: string;
  readonly model?: string;
  /** Where it was reached, without credentials. */
  readonly url?: string;
  /** The environment variable that holds its key. */
  readonly keyVariable?: string;
  /** What must never show up in a message: keys, passwords of proxies. */
  readonly secrets?: readonly string[];
};

/** The error for a reply whose status is not a success. Header names are in lower case. */
export function statusFault(status: number, headers: HeaderMap, bodyText: string, who: Who): FairleadError {
  const read = readErrorBody(bodyText);
  const { code, text, blame, retry } = faultKind(status, read);
  const words = clean(isPage(bodyText) ? bodyText : read.said, who, isPage(bodyText) ? 200 : 600);
  const afterMs = retry ? retryDelay(headers, read.body, read.said) : undefined;
  const hint = hintFor(code, who);
  return new FairleadError(code, `${who.name} ${text} (status ${status})${words === '' ? '.' : `: ${words}`}`, {
    blame,
    retry: retry && headers['x-should-retry'] !== 'false',
    ...(afterMs === undefined ? {} : { afterMs }),
    ...(hint === undefined ? {} : { hint }),
  });
}

/** The error for an error object or event inside a reply whose status was a success: as if its own status had been sent. */
export const bodyFault = (value: unknown, who: Who): FairleadError =>
  statusFault(statusIn(value), {}, typeof value === 'string' ? value : JSON.stringify(value), who);

/** The error for a connection that failed: nothing, or not all, of a reply arrived. */
export function networkFault(error: unknown, who: Who): FairleadError {
  if (error instanceof FairleadError) return error;
  const { code, message } = rootOf(error);
  const words = clean(message, who);
  const where = who.url === undefined ? who.name : `${who.name} at ${clean(who.url, who)}`;
  if (code === 'ECONNRESET' || code === 'EPIPE') return cutFault(who, error);
  const found = causes.find((each) => each.code.test(code) || each.words?.test(message));
  if (!found) return cutFault(who, error);
  // On this machine a refused connection means that no server runs: trying again would only keep the person waiting.
  const off = code === 'ECONNREFUSED' && isLoopback(who.url);
  return new FairleadError(found.fault, `${found.text(where)}: ${words}.`, {
    blame: found.blame,
    retry: found.retry && !off,
    hint: off ? `Start the server at ${clean(who.url ?? '', who)}, or name another model.` : found.hint,
    cause: error,
  });
}

const isLoopback = (url: string | undefined): boolean =>
  url !== undefined && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(URL.parse(url)?.hostname ?? '');

/** The error for a reply that broke off before its end. */
export const cutFault = (who: Who, cause?: unknown): FairleadError =>
  new FairleadError('provider/cut', `The answer of ${who.name} broke off before its end.`, {
    blame: 'provider',
    retry: true,
    ...(cause === undefined ? {} : { cause }),
  });

/** The error for a reply that is not what was asked for; its first 200 characters are shown. */
export function malformedFault(what: string, text: string, who: Who, retry = false): FairleadError {
  const shown = clean(text, who, 200);
  return new FairleadError('provider/malformed', `${who.name} sent ${what}${shown === '' ? '.' : `: ${shown}`}`, {
    blame: 'provider',
    retry,
    hint: 'Check that the address is that of the model server, path included, and not that of a web page or a proxy.',
  });
}

/** The most characters an answer may have. */
export const mostChars: number = 32 * 2 ** 20;

/** The error for a reply that is larger than any answer may be. */
export const tooLargeFault = (who: Who): FairleadError =>
  new FairleadError('provider/too-large', `The answer of ${who.name} is larger than 32 MB and was dropped.`, {
    blame: 'provider',
    hint: 'Ask for less at once, or limit the output tokens.',
  });

/** The error for a reply whose first byte did not come in time. */
export const timeoutFault = (who: Who, ms: number): FairleadError =>
  new FairleadError('provider/timeout', `${who.name} did not begin to answer within ${ms} ms.`, {
    blame: 'provider',
    retry: true,
  });

/** The error for a reply that began and then stood still. */
export const stalledFault = (who: Who, ms: number): FairleadError =>
  new FairleadError('provider/stalled', `The answer of ${who.name} stood still for ${ms} ms.`, {
    blame: 'provider',
    retry: true,
  });

/** A text from outside, fit for one line of a message: no control characters, no secrets, not too long. */
export function clean(text: string, who: Who, most = 600): string {
  let safe = text.slice(0, most * 4);
  for (const secret of who.secrets ?? []) if (secret.length > 3) safe = safe.replaceAll(secret, '[secret]');
  const line = safe
    .replaceAll(/\p{Cc}+|\p{Cf}+|\p{Cs}+|\p{Zl}|\p{Zp}/gu, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim();
  return line.length > most ? `${line.slice(0, most)}…` : line;
}

type Cause = {
  readonly code: RegExp;
  readonly words?: RegExp;
  readonly fault: string;
  readonly text: (where: string) => string;
  readonly blame: ErrorDetails['blame'];
  readonly retry: boolean;
  readonly hint: string;
};

const causes: readonly Cause[] = [
  {
    code: /^(ERR_TLS_|ERR_SSL_|ERR_OSSL|EPROTO$|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH)/,
    words: /certificate|\bssl\b|\btls\b/i,
    fault: 'provider/tls',
    text: (where) => `The secure connection to ${where} failed`,
    blame: 'user',
    retry: false,
    hint: 'Check whether the address wants http or https, the clock of this machine, and NODE_EXTRA_CA_CERTS.',
  },
  {
    code: /^(Z_|ERR_BROTLI|BROTLI_|ERR_ZSTD|ZSTD_|ERR__ERROR|ERR_PADDING)/,
    words: /decompression failed|incorrect header check|unexpected end of file/i,
    fault: 'provider/malformed',
    text: (where) => `The reply of ${where} is compressed and cannot be read`,
    blame: 'provider',
    retry: true,
    hint: 'Look for a proxy on the way that changes replies.',
  },
  {
    code: /^HPE_/,
    fault: 'provider/malformed',
    text: (where) => `What answers for ${where} does not speak HTTP`,
    blame: 'provider',
    retry: false,
    hint: 'Check the address and whether it wants http or https.',
  },
  {
    code: /^ERR_PROXY/,
    words: /\bproxy\b|tunnel/i,
    fault: 'provider/proxy',
    text: (where) => `The proxy on the way to ${where} failed`,
    blame: 'user',
    retry: false,
    hint: 'Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.',
  },
  {
    code: /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|E(HOST|NET)(UNREACH|DOWN)|EADDRNOTAVAIL|ETIMEDOUT|ERR_SOCKET_CONNECTION_TIMEOUT|UND_ERR_CONNECT_TIMEOUT)$/,
    fault: 'provider/unreachable',
    text: (where) => `There is no connection to ${where}`,
    blame: 'provider',
    retry: true,
    hint: 'Check that the server runs, that the address is right, and that this machine is online.',
  },
];

/** The error at the bottom: wrappers such as "fetch failed" and lists of attempts say nothing themselves. */
function rootOf(error: unknown): { readonly code: string; readonly message: string } {
  let now: unknown = error;
  for (let depth = 0; depth < 5 && now instanceof Error; depth++) {
    const inner: unknown = now instanceof AggregateError ? now.errors[0] : now.cause;
    if (!(inner instanceof Error)) break;
    now = inner;
  }
  if (!(now instanceof Error)) return { code: '', message: String(now) };
  return { code: String((now as { code?: unknown }).code ?? ''), message: now.message };
}

const isPage = (text: string): boolean => /^\s*<(!doctype|html|head|body|\?xml)/i.test(text.slice(0, 100));

function hintFor(code: string, who: Who): string | undefined {
  switch (code) {
    case 'provider/context-too-long':
      return 'Shorten or compact the conversation, or choose a model with a larger context window.';
    case 'provider/bad-request':
      return 'Check the settings and tools against what this model supports.';
    case 'provider/unauthorized':
      return who.keyVariable === undefined
        ? 'Check the key and what it may do.'
        : `Set ${who.keyVariable} to a key that is valid for this model.`;
    case 'provider/payment':
      return "Check the account's balance and spending limit.";
    case 'provider/not-found':
      return `List the models${who.model === undefined ? '' : `, check the name ${who.model},`} and check the path of the address.`;
    case 'provider/proxy':
      return 'Put the credentials of the proxy into HTTPS_PROXY or HTTP_PROXY.';
    case 'provider/redirected':
      return 'Set the address to the one the server points to.';
    default:
      return undefined;
  }
}
