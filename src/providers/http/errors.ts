// What goes wrong between us and a model's server, as typed errors: who has to act, whether to try again, when, and what to do.
import { FairleadError, isLoopbackUrl, type ErrorDetails } from '../../core/index.ts';
import {
  classifyProviderError,
  inferErrorStatus,
  parseErrorBody,
  parseRetryDelay,
  type HttpHeaderMap,
  type ReportedUsage,
} from '../../wire/index.ts';

/** Whom an error speaks of. */
export type ProviderInfo = {
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
export function httpStatusError(
  status: number,
  headers: HttpHeaderMap,
  bodyText: string,
  who: ProviderInfo,
): FairleadError {
  const read = parseErrorBody(bodyText);
  const { code, text, blame, retry } = classifyProviderError(status, read);
  const words = sanitizeErrorText(
    isHtmlPage(bodyText) ? bodyText : read.message,
    who,
    isHtmlPage(bodyText) ? 200 : 600,
  );
  const afterMs = retry ? parseRetryDelay(headers, read.body, read.message) : undefined;
  const hint = errorHint(code, who);
  return new FairleadError(code, `${who.name} ${text} (status ${status})${words === '' ? '.' : `: ${words}`}`, {
    blame,
    retry: retry && headers['x-should-retry'] !== 'false',
    ...(afterMs === undefined ? {} : { afterMs }),
    ...(hint === undefined ? {} : { hint }),
  });
}

/** The error for an error object or event inside a reply whose status was a success: as if its own status had been sent. */
export const errorBodyError = (value: unknown, who: ProviderInfo): FairleadError =>
  httpStatusError(inferErrorStatus(value), {}, typeof value === 'string' ? value : JSON.stringify(value), who);

/** Adds the usage that a reply reported before it failed, so that the cost of a failed request is not lost. */
export function withUsage(error: unknown, { usage, usd }: ReportedUsage): unknown {
  if (!(error instanceof FairleadError) || error.usage !== undefined || Object.keys(usage).length === 0) return error;
  const { code, message, blame, retry, afterMs, hint, cause } = error;
  return new FairleadError(code, message, {
    blame,
    retry,
    usage,
    cause,
    ...(afterMs === undefined ? {} : { afterMs }),
    ...(hint === undefined ? {} : { hint }),
    ...(usd === undefined ? {} : { usd }),
  });
}

/** The error for a connection that failed: nothing, or not all, of a reply arrived. */
export function connectionError(error: unknown, who: ProviderInfo): FairleadError {
  if (error instanceof FairleadError) return error;
  const { code, message } = rootCauseOf(error);
  const words = sanitizeErrorText(message, who);
  const where = who.url === undefined ? who.name : `${who.name} at ${sanitizeErrorText(who.url, who)}`;
  if (code === 'ECONNRESET' || code === 'EPIPE') return truncatedResponseError(who, error);
  const found = connectionErrorKinds.find((each) => each.code.test(code) || each.message?.test(message));
  if (!found) return truncatedResponseError(who, error);
  // On this machine a refused connection means that no server runs: trying again would only keep the person waiting.
  const off = code === 'ECONNREFUSED' && isLoopbackUrl(who.url ?? '');
  return new FairleadError(found.errorCode, `${found.text(where)}: ${words}.`, {
    blame: found.blame,
    retry: found.retry && !off,
    hint: off ? `Start the server at ${sanitizeErrorText(who.url ?? '', who)}, or name another model.` : found.hint,
    cause: error,
  });
}

/** The error for a reply that broke off before its end. */
export const truncatedResponseError = (who: ProviderInfo, cause?: unknown): FairleadError =>
  new FairleadError('provider/cut', `The answer of ${who.name} broke off before its end.`, {
    blame: 'provider',
    retry: true,
    ...(cause === undefined ? {} : { cause }),
  });

/** The error for a reply that is not what was asked for; its first 200 characters are shown. */
export function malformedResponseError(what: string, text: string, who: ProviderInfo, retry = false): FairleadError {
  const shown = sanitizeErrorText(text, who, 200);
  return new FairleadError('provider/malformed', `${who.name} sent ${what}${shown === '' ? '.' : `: ${shown}`}`, {
    blame: 'provider',
    retry,
    hint: 'Check that the address is that of the model server, path included, and not that of a web page or a proxy.',
  });
}

/** The most characters an answer may have. */
export const maxResponseChars: number = 32 * 2 ** 20;

/** The error for a reply that is larger than any answer may be. */
export const responseTooLargeError = (who: ProviderInfo): FairleadError =>
  new FairleadError('provider/too-large', `The answer of ${who.name} is larger than 32 MB and was dropped.`, {
    blame: 'provider',
    hint: 'Ask for less at once, or limit the output tokens.',
  });

/** The error for a reply whose first byte did not come in time. */
export const responseTimeoutError = (who: ProviderInfo, ms: number): FairleadError =>
  new FairleadError('provider/timeout', `${who.name} did not begin to answer within ${ms} ms.`, {
    blame: 'provider',
    retry: true,
  });

/** The error for a reply that began and then stood still. */
export const stalledResponseError = (who: ProviderInfo, ms: number): FairleadError =>
  new FairleadError('provider/stalled', `The answer of ${who.name} stood still for ${ms} ms.`, {
    blame: 'provider',
    retry: true,
  });

/** A text from outside, fit for one line of a message: no control characters, no secrets, not too long. */
export function sanitizeErrorText(text: string, who: ProviderInfo, most = 600): string {
  let safe = text.slice(0, most * 4);
  for (const secret of who.secrets ?? []) if (secret.length > 3) safe = safe.replaceAll(secret, '[secret]');
  const line = safe
    .replaceAll(/\p{Cc}+|\p{Cf}+|\p{Cs}+|\p{Zl}|\p{Zp}/gu, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim();
  return line.length > most ? `${line.slice(0, most)}…` : line;
}

type ConnectionErrorKind = {
  readonly code: RegExp;
  readonly message?: RegExp;
  readonly errorCode: string;
  readonly text: (where: string) => string;
  readonly blame: ErrorDetails['blame'];
  readonly retry: boolean;
  readonly hint: string;
};

const connectionErrorKinds: readonly ConnectionErrorKind[] = [
  {
    code: /^(ERR_TLS_|ERR_SSL_|ERR_OSSL|EPROTO$|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH)/,
    message: /certificate|\bssl\b|\btls\b/i,
    errorCode: 'provider/tls',
    text: (where) => `The secure connection to ${where} failed`,
    blame: 'user',
    retry: false,
    hint: 'Check whether the address wants http or https, the clock of this machine, and NODE_EXTRA_CA_CERTS.',
  },
  {
    code: /^(Z_|ERR_BROTLI|BROTLI_|ERR_ZSTD|ZSTD_|ERR__ERROR|ERR_PADDING)/,
    message: /decompression failed|incorrect header check|unexpected end of file/i,
    errorCode: 'provider/malformed',
    text: (where) => `The reply of ${where} is compressed and cannot be read`,
    blame: 'provider',
    retry: true,
    hint: 'Look for a proxy on the way that changes replies.',
  },
  {
    code: /^HPE_/,
    errorCode: 'provider/malformed',
    text: (where) => `What answers for ${where} does not speak HTTP`,
    blame: 'provider',
    retry: false,
    hint: 'Check the address and whether it wants http or https.',
  },
  {
    code: /^ERR_PROXY/,
    message: /\bproxy\b|tunnel/i,
    errorCode: 'provider/proxy',
    text: (where) => `The proxy on the way to ${where} failed`,
    blame: 'user',
    retry: false,
    hint: 'Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.',
  },
  {
    code: /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|E(HOST|NET)(UNREACH|DOWN)|EADDRNOTAVAIL|ETIMEDOUT|ERR_SOCKET_CONNECTION_TIMEOUT|UND_ERR_CONNECT_TIMEOUT)$/,
    errorCode: 'provider/unreachable',
    text: (where) => `There is no connection to ${where}`,
    blame: 'provider',
    retry: true,
    hint: 'Check that the server runs, that the address is right, and that this machine is online.',
  },
];

/** The error at the bottom: wrappers such as "fetch failed" and lists of attempts say nothing themselves. */
function rootCauseOf(error: unknown): { readonly code: string; readonly message: string } {
  let now: unknown = error;
  for (let depth = 0; depth < 5 && now instanceof Error; depth++) {
    const inner: unknown = now instanceof AggregateError ? now.errors[0] : now.cause;
    if (!(inner instanceof Error)) break;
    now = inner;
  }
  if (!(now instanceof Error)) return { code: '', message: String(now) };
  return { code: String((now as { code?: unknown }).code ?? ''), message: now.message };
}

const isHtmlPage = (text: string): boolean => /^\s*<(!doctype|html|head|body|\?xml)/i.test(text.slice(0, 100));

function errorHint(code: string, who: ProviderInfo): string | undefined {
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
