// Selects the model listing for a request: of the hosted services and local servers, each with its own fields.
import { describeByStyle, describeForAnthropic, describeForGoogle } from './model-listings/hosted.ts';
import { getNativeListing, describeOllamaModel } from './model-listings/local.ts';
import type { ListedModel, ListingStyle } from './model-listings/model.ts';

/** Returns the response to a request that lists or describes models; undefined for any other request. */
export function getModelListing(
  request: { readonly method: string; readonly path: string; readonly anthropic: boolean; readonly body: unknown },
  models: readonly ListedModel[],
  style: ListingStyle,
): { readonly status: number; readonly body: string } | undefined {
  const { method, path } = request;
  if (method === 'POST' && path === '/api/show') return describeOllamaModel(request.body, models);
  if (method !== 'GET') return undefined;
  const native = getNativeListing(path, models, style);
  if (native) return { status: 200, body: JSON.stringify(native) };
  const asked = /^(.*)\/models(?:\/(.+))?$/.exec(path);
  if (!asked) return undefined;
  const [, base = '', one] = asked;
  const describe = request.anthropic
    ? describeForAnthropic
    : base.includes('beta')
      ? describeForGoogle
      : describeByStyle[style];
  if (one !== undefined) {
    const found = models.find((model) => model.id === decodeURIComponent(one));
    return found ? { status: 200, body: JSON.stringify(describe(found)) } : modelNotFound(one);
  }
  const data = models.map(describe);
  const whole = request.anthropic
    ? { data, has_more: false, first_id: models[0]?.id ?? null, last_id: models.at(-1)?.id ?? null }
    : base.includes('beta')
      ? { models: data }
      : { object: 'list', data };
  return { status: 200, body: JSON.stringify(whole) };
}

const modelNotFound = (id: string): { readonly status: number; readonly body: string } => ({
  status: 404,
  body: JSON.stringify({
    error: {
      message: `The model '${id}' does not exist`,
      type: 'invalid_request_error',
      param: 'model',
      code: 'model_not_found',
    },
  }),
});
