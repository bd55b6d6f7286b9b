// Wraps the official OpenAI, Anthropic and Google clients: returns the same client type with all model requests intercepted.
import { FairleadError } from '../../core/index.ts';
import { wrapFetch, type WrapClientOptions, type FetchFunction } from './fetch.ts';

/** A client that can be re-created with another fetch, such as those of OpenAI and Anthropic. */
export type ClientWithOptions = { withOptions(options: { fetch: FetchFunction }): unknown };

/** Wraps an OpenAI client: intercepts chat completions and responses, streamed and whole. */
export const wrapOpenAI = <Client extends ClientWithOptions>(client: Client, options: WrapClientOptions = {}): Client =>
  withWrappedFetch(client, options);

/** Wraps an Anthropic client: intercepts messages, streamed and whole. */
export const wrapAnthropic = <Client extends ClientWithOptions>(
  client: Client,
  options: WrapClientOptions = {},
): Client => withWrappedFetch(client, options);

function withWrappedFetch<Client extends ClientWithOptions>(client: Client, options: WrapClientOptions): Client {
  const own = (client as { readonly fetch?: unknown }).fetch;
  const plain: FetchFunction =
    typeof own === 'function' ? (input, init) => (own as FetchFunction).call(undefined, input, init) : fetch;
  return client.withOptions({ fetch: wrapFetch(options, plain) }) as Client;
}

type GoogleClientInternals = {
  readonly apiClient: { readonly clientOptions: { readonly httpOptions?: { readonly fetch?: FetchFunction } } };
  readonly models: { readonly constructor: new (api: object) => object };
  readonly chats: { readonly constructor: new (models: object, api: object) => object };
};

/** Wraps a Google client: intercepts content generation through `models` and `chats`, streamed and whole. */
export function wrapGoogle<Client extends object>(client: Client, options: WrapClientOptions = {}): Client {
  const { apiClient, models, chats } = client as unknown as GoogleClientInternals;
  if (!apiClient?.clientOptions || !models || !chats)
    throw new FairleadError('bridge/unknown-client', 'This is not a client of @google/genai that can be intercepted.', {
      blame: 'user',
      hint: 'Give its `httpOptions.fetch` a `guidedFetch` instead.',
    });
  const { clientOptions } = apiClient;
  const http = { ...clientOptions.httpOptions, fetch: wrapFetch(options, clientOptions.httpOptions?.fetch ?? fetch) };
  const api = copyWith(apiClient, { clientOptions: { ...clientOptions, httpOptions: http } });
  const guided = new models.constructor(api);
  return copyWith(client, { apiClient: api, models: guided, chats: new chats.constructor(guided, api) });
}

const copyWith = <T extends object>(original: T, changes: object): T =>
  Object.assign(Object.create(Object.getPrototypeOf(original) as object) as T, original, changes);
