// Typed errors of model servers and connections: whose fault, whether and when to retry, and a hint.
import { FairleadError, isLoopbackUrl, type ErrorDetails } from '../../core/index.ts';
import {
  classifyProviderError,
  inferErrorStatus,
  parseErrorBody,
  parseRetryDelay,
  type HttpHeaderMap,
  type ReportedUsage,
} from '../../wire/index.ts';

/** The provider that an error names. */
export type ProviderInfo = {
  /** The provider's name as the user knows it, for example `groq`. */
  readonly name: string;
  readonly model?: string;
  /** Its address, without credentials. */
  readonly url?: string;
  /** The environment variable that holds its key. */
  readonly keyVariable?: string;
  /** Values that must not appear in a message: keys, passwords of proxies. */
  readonly secrets?: readonly string[];
};

/** Creates the error for a reply with a status other than 2xx. Header names are in lower case. */
export function httpStatusError(
  status: number,
  headers: HttpHeaderMap,
  bodyText: string,
  providerInfo: ProviderInfo,
): FairleadError {
  const read = parseErrorBody(bodyText);
  const { code, text, blame, retry } = classifyProviderError(status, read);
  const words = sanitizeErrorText(
    isHtmlPage(bodyText) ? bodyText : read.message,
    providerInfo,
    isHtmlPage(bodyText) ? 200 : 600,
  );
  const afterMs = retry ? parseRetryDelay(headers, read.body, read.message) : undefined;
  const hint = errorHint(code, providerInfo);
  return new FairleadError(code, `${providerInfo.name}${text} (status ${status})${words === '' ? '.' : `: ${words}`}`, {
    blame,
    retry: retry && headers['x-should-retry'] !== 'false',
    ...(afterMs === undefined ? {} : { afterMs }),
    ...(hint === undefined ? {} : { hint }),
  });
}

/** Creates the error for an error object or event inside a reply with status 2xx, from the status that it states. */
export const errorBodyError = (value: unknown, providerInfo: ProviderInfo): FairleadError =>
  httpStatusError(inferErrorStatus(value), {}, typeof value === 'string' ? value : JSON.stringify(value), providerInfo);

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

/** Creates the error for a connection that failed before or during the reply. */
export function connectionError(error: unknown, providerInfo: ProviderInfo): FairleadError {
  if (error instanceof FairleadError) return error;
  const { code, message } = rootCauseOf(error);
  const text = sanitizeErrorText(message, providerInfo);
  const where =
    providerInfo.url === undefined
      ? providerInfo.name
      : `${providerInfo.name} at ${sanitizeErrorText(providerInfo.url, providerInfo)}`;
  if (code === 'ECONNRESET' || code === 'EPIPE') return truncatedResponseError(providerInfo, error);
  const found = connectionErrorKinds.find((each) => each.code.test(code) || each.message?.test(message));
  if (!found) return truncatedResponseError(providerInfo, error);
  // On this machine a refused connection means that no server runs: a retry would only delay the error.
  const isLocalServerDown = code === 'ECONNREFUSED' && isLoopbackUrl(providerInfo.url ?? '');
  return new FairleadError(found.errorCode, `${found.text(where)}: ${text}.`, {
    blame: found.blame,
    retry: found.retry && !isLocalServerDown,
    hint: isLocalServerDown
      ? `Is the server running at ${sanitizeErrorText(providerInfo.url ?? '', providerInfo)}? Start it, or name another model.`
      : found.hint,
    cause: error,
  });
}

/** Creates the error for a reply that ended early. */
export const truncatedResponseError = (providerInfo: ProviderInfo, cause?: unknown): FairleadError =>
  new FairleadError('provider/cut', `The connection to ${providerInfo.name} dropped mid-answer.`, {
    blame: 'provider',
    retry: true,
    ...(cause === undefined ? {} : { cause }),
  });

/** Creates the error for a reply in an unexpected format, with its first 200 characters. */
export function malformedResponseError(
  what: string,
  text: string,
  providerInfo: ProviderInfo,
  retry = false,
): FairleadError {
  const shown = sanitizeErrorText(text, providerInfo, 200);
  return new FairleadError(
    'provider/malformed',
    `${providerInfo.name} sent ${what}${shown === '' ? '.' : `: ${shown}`}`,
    {
      blame: 'provider',
      retry,
      hint: 'Check that the address is that of the model server, path included, and not that of a web page or a proxy.',
    },
  );
}

/** Max characters of a response. */
export const maxResponseChars: number = 32 * 2 ** 20;

/** Creates the error for a response above the max size. */
export const responseTooLargeError = (providerInfo: ProviderInfo, limit = '32 MB'): FairleadError =>
  new FairleadError(
    'provider/too-large',
    `The answer of ${providerInfo.name} is larger than ${limit} and was dropped.`,
    { blame: 'provider', hint: 'Request a shorter response, or limit the output tokens.' },
  );

/** Creates the error for a response with too many tool calls. */
export const tooManyCallsError = (providerInfo: ProviderInfo, most: number): FairleadError =>
  new FairleadError(
    'provider/too-large',
    `The answer of ${providerInfo.name} has more than ${most} tool calls and was dropped.`,
    { blame: 'provider', hint: 'Ask for fewer tool calls at once.' },
  );

/** Creates the error for a response whose first chunk did not arrive in time. */
export const responseTimeoutError = (providerInfo: ProviderInfo, ms: number): FairleadError =>
  new FairleadError('provider/timeout', `${providerInfo.name} did not start to respond within ${ms} ms.`, {
    blame: 'provider',
    retry: true,
  });

/** Creates the error for a response that stalled after its first chunk. */
export const stalledResponseError = (providerInfo: ProviderInfo, ms: number): FairleadError =>
  new FairleadError(
    'provider/stalled',
    `${providerInfo.name} sent nothing for ${ms} ms after the response had started.`,
    {
      blame: 'provider',
      retry: true,
    },
  );

/** Makes a text of a server fit for a message: one line, no control characters, no secrets, at most `maxChars` characters. */
export function sanitizeErrorText(text: string, providerInfo: ProviderInfo, maxChars = 600): string {
  let safe = text.slice(0, maxChars * 4);
  for (const secret of providerInfo.secrets ?? []) if (secret.length > 3) safe = safe.replaceAll(secret, '[secret]');
  const line = safe
    .replaceAll(/\p{Cc}+|\p{Cf}+|\p{Cs}+|\p{Zl}|\p{Zp}/gu, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim();
  return line.length > maxChars ? `${line.slice(0, maxChars)}…` : line;
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
    hint: 'Check whether the address requires http or https, the clock of this machine, and NODE_EXTRA_CA_CERTS.',
  },
  {
    code: /^(Z_|ERR_BROTLI|BROTLI_|ERR_ZSTD|ZSTD_|ERR__ERROR|ERR_PADDING)/,
    message: /decompression failed|incorrect header check|unexpected end of file/i,
    errorCode: 'provider/malformed',
    text: (where) => `The reply of ${where} is compressed and cannot be decompressed`,
    blame: 'provider',
    retry: true,
    hint: 'Check whether a proxy changes the replies.',
  },
  {
    code: /^HPE_/,
    errorCode: 'provider/malformed',
    text: (where) => `${where} does not speak HTTP`,
    blame: 'provider',
    retry: false,
    hint: 'Check the address and whether it requires http or https.',
  },
  {
    code: /^ERR_PROXY/,
    message: /\bproxy\b|tunnel/i,
    errorCode: 'provider/proxy',
    text: (where) => `The proxy for ${where} failed`,
    blame: 'user',
    retry: false,
    hint: 'Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.',
  },
  {
    code: /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|E(HOST|NET)(UNREACH|DOWN)|EADDRNOTAVAIL|ETIMEDOUT|ERR_SOCKET_CONNECTION_TIMEOUT|UND_ERR_CONNECT_TIMEOUT)$/,
    errorCode: 'provider/unreachable',
    text: (where) => `Cannot connect to ${where}`,
    blame: 'provider',
    retry: true,
    hint: 'Check that the server runs, that the address is right, and that this machine is online.',
  },
];

/** Returns the innermost cause: wrappers such as "fetch failed" have no details. */
function rootCauseOf(error: unknown): { readonly code: string; readonly message: string } {
  let current: unknown = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    const inner: unknown = current instanceof AggregateError ? current.errors[0] : current.cause;
    if (!(inner instanceof Error)) break;
    current = inner;
  }
  if (!(current instanceof Error)) return { code: '', message: String(current) };
  return { code: String((current as { code?: unknown }).code ?? ''), message: current.message };
}

const isHtmlPage = (text: string): boolean => /^\s*<(!doctype|html|head|body|\?xml)/i.test(text.slice(0, 100));

function errorHint(code: string, providerInfo: ProviderInfo): string | undefined {
  switch (code) {
    case 'provider/context-too-long':
      return 'Shorten or compact the conversation, or choose a model with a larger context window.';
    case 'provider/bad-request':
      return 'Check the settings and tools against what this model supports.';
    case 'provider/unauthorized':
      return providerInfo.keyVariable === undefined
        ? 'Check the key and what it may do.'
        : `Set ${providerInfo.keyVariable} to a key that is valid for this model.`;
    case 'provider/payment':
      return "Check the account's balance and spending limit.";
    case 'provider/not-found':
      return `List the models${providerInfo.model === undefined ? '' : `, check the name ${providerInfo.model},`} and check the path of the address.`;
    case 'provider/proxy':
      return 'Put the credentials of the proxy into HTTPS_PROXY or HTTP_PROXY.';
    case 'provider/redirected':
      return 'Set the address to the target of the redirect.';
    default:
      return undefined;
  }
}
