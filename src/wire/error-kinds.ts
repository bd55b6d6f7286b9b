// Classifies the error of a server by its status and message.
import { isObject, type Blame } from '../core/index.ts';
import { tryParseJson } from './fields.ts';

/** A kind of error: the text directly after the provider's name, who has to act, and whether a retry can help. */
export type ProviderErrorKind = {
  readonly code: string;
  readonly text: string;
  readonly blame: Blame;
  readonly retry: boolean;
};

/** A parsed error body: its message, its machine-readable fields (types, codes, states), and its JSON, if it is JSON. */
export type ProviderErrorBody = { readonly message: string; readonly markers: string; readonly body: unknown };

const errorKind = (code: string, text: string, blame: Blame, retry: boolean): ProviderErrorKind => ({
  code,
  text,
  blame,
  retry,
});

const errorKinds = {
  limited: errorKind('provider/rate-limited', ': rate limit reached', 'provider', true),
  overloaded: errorKind('provider/overloaded', ' is overloaded', 'provider', true),
  failed: errorKind('provider/server-error', ' failed', 'provider', true),
  unsupported: errorKind('provider/server-error', ' does not support this request', 'provider', false),
  timedOut: errorKind('provider/timeout', ' took too long', 'provider', true),
  tooLong: errorKind('provider/context-too-long', ' cannot process a request of this length', 'user', false),
  refused: errorKind('provider/bad-request', ' did not accept the request', 'user', false),
  invalidOutput: errorKind('provider/bad-request', ' could not parse the output of the model', 'model', true),
  unauthorized: errorKind('provider/unauthorized', ' did not accept the key', 'user', false),
  payment: errorKind('provider/payment', ' requires payment', 'user', false),
  missing: errorKind('provider/not-found', ' does not have the requested resource', 'user', false),
  proxy: errorKind('provider/proxy', ' is behind a proxy that requires credentials', 'user', false),
  redirected: errorKind('provider/redirected', ' redirects to another address, to which no key is sent', 'user', false),
} as const;

/** Max characters of a message that decide its kind: a server may send a long text instead of an error. */
const maxClassifiedChars = 10_000;
const maxErrorMessages = 50;

/** How servers report that a request does not fit the context window; each pattern covers messages of several servers. */
const contextTooLongPatterns: readonly RegExp[] = [
  /context[_ ](length|window|size)[_ ](is |was )?exceeded|exceeds?_context_size|max_prompt_tokens_exceeded|request_too_large/i,
  /maximum (context|prompt|model|input|sequence) (length|size|window)/i,
  /(prompt|inputs?|request|messages?|conversation)\W{1,20}(\([^)]{0,200}\) )?(is|are|was) (too (long|large)|longer than|larger than)/i,
  /prompt too long|too large for model|request too large for|too many tokens|maximum number of tokens allowed/i,
  /(exceed(s|ed|ing)?|overflow(s|ed)?|larger than|longer than|greater than|beyond)[^.]{0,40} (context|token limit)/i,
  /context[^.]{0,20} (overflow|exceed)|context limit|context shift is disabled|model token limit/i,
  /reduce (the |your )?(length of (the |your )?)?(messages|prompt|input|message size)/i,
  /(prompt|input) tokens? (count|length)?[^.]{0,30}exceed|must have less than \d+ tokens/i,
  /tokens \+ `?max_(new_)?tokens`? must be|payload size exceeds|(messages|input)\[\d+\]\.content'?: string too long/i,
];

const errorPatterns = {
  payment: /insufficient_quota|billing_hard_limit|credit balance is too low|insufficient[ _](balance|credits|funds)/i,
  missing:
    /model_not_found|model_not_available|model_decommissioned|is not a valid model id|model \S+ (was )?not found/i,
  unauthorized: /API_KEY_INVALID|api key not valid|(invalid|incorrect)[ _]api[ _]key|authentication_error/i,
  invalidOutput: /tool_use_failed|json_validate_failed/i,
  limited: /rate_limit|RESOURCE_EXHAUSTED/i,
  overloaded: /overloaded|\bUNAVAILABLE\b|capacity_exceeded/i,
} as const;

/** Returns the kind of an error by its status and body; the message decides if a status has several meanings. */
export function classifyProviderError(status: number, { message, markers }: ProviderErrorBody): ProviderErrorKind {
  const all = `${markers.slice(0, maxClassifiedChars)} ${message.slice(0, maxClassifiedChars)}`;
  if (status === 407) return errorKinds.proxy;
  if (status === 402 || errorPatterns.payment.test(all)) return errorKinds.payment;
  if (status !== 401 && status !== 403 && contextTooLongPatterns.some((each) => each.test(all)))
    return errorKinds.tooLong;
  if (status === 404 || errorPatterns.missing.test(all)) return errorKinds.missing;
  if (status === 401 || errorPatterns.unauthorized.test(all)) return errorKinds.unauthorized;
  if (status === 403) return /flagged|moderation/i.test(message) ? errorKinds.refused : errorKinds.unauthorized;
  if (status === 413) return errorKinds.tooLong;
  if (status === 429 || errorPatterns.limited.test(markers)) return errorKinds.limited;
  if (errorPatterns.invalidOutput.test(markers)) return errorKinds.invalidOutput;
  if (status === 503 || status === 529 || status === 498 || errorPatterns.overloaded.test(all))
    return errorKinds.overloaded;
  if (status === 408) return errorKinds.timedOut;
  if (status >= 300 && status < 400) return errorKinds.redirected;
  if (status === 501 || status === 505) return errorKinds.unsupported;
  return status >= 500 || status === 409 || status === 424 || status === 425 ? errorKinds.failed : errorKinds.refused;
}

/** Parses an error body in any of the common formats; a body that is not JSON is used as the message. */
export function parseErrorBody(text: string): ProviderErrorBody {
  const body = tryParseJson(text);
  if (body === undefined) return { message: text, markers: '', body };
  const top = Array.isArray(body) ? (body[0] as unknown) : body;
  const messages: string[] = [];
  const markers: string[] = [];
  collectErrorFields(top, messages, markers, 0);
  return {
    message: messages.join(' – ') || (typeof top === 'string' ? top : JSON.stringify(top)),
    markers: markers.join(' '),
    body: top,
  };
}

const messageKeys = ['error', 'message', 'detail', 'details', 'errors', 'metadata', 'raw', 'msg', 'error_message'];
const markerKeys = ['type', 'code', 'status', 'reason', 'error_type', 'status_code'];

/** Collects the messages, without repeats, and the markers of an error body. */
function collectErrorFields(value: unknown, messages: string[], markers: string[], depth: number): void {
  if (typeof value === 'string') {
    const inner = value.trimStart().startsWith('{') ? tryParseJson(value) : undefined;
    if (inner !== undefined) collectErrorFields(inner, messages, markers, depth + 1);
    else if (value !== '' && messages.length < maxErrorMessages && !messages.includes(value)) messages.push(value);
    return;
  }
  if (depth > 6) return;
  if (Array.isArray(value))
    for (const each of value.slice(0, 5)) collectErrorFields(each, messages, markers, depth + 1);
  if (!isObject(value)) return;
  for (const name of markerKeys) {
    const marker = value[name];
    if (typeof marker === 'string' || typeof marker === 'number') markers.push(String(marker));
  }
  for (const name of messageKeys)
    if (value[name] !== undefined) collectErrorFields(value[name], messages, markers, depth + 1);
}

/** Returns the status of an error object inside a successful response; 500 if it has none. */
export function inferErrorStatus(value: unknown): number {
  const { markers } = parseErrorBody(typeof value === 'string' ? value : JSON.stringify(value));
  const number = Number(/(?<![\w.])[45]\d\d(?![\w.])/.exec(markers)?.[0] ?? Number.NaN);
  if (!Number.isNaN(number)) return number;
  if (/invalid_request|bad_?request|INVALID_ARGUMENT|validation/i.test(markers)) return 400;
  if (/permission|PERMISSION_DENIED/i.test(markers)) return 403;
  return /not_found/i.test(markers) ? 404 : 500;
}
