// Wraps a provider so that each request has settings that can change between requests, such as the reasoning effort and streaming.
import type { ModelSettings, Provider } from '../core/index.ts';

/** Returns a provider that adds the settings to each request; a setting replaces that of the request. */
export function withModelSettings(provider: Provider, settings: () => ModelSettings): Provider {
  let last: { readonly own: ModelSettings; readonly key: string; readonly merged: ModelSettings } | undefined;
  // The same object for the same settings: providers keep the encoded head of a request by it.
  const merge = (own: ModelSettings): ModelSettings => {
    const more = settings();
    const key = JSON.stringify(more);
    if (last?.own !== own || last.key !== key) last = { own, key, merged: { ...own, ...more } };
    return last.merged;
  };
  return {
    ...provider,
    stream: (request, signal) => provider.stream({ ...request, settings: merge(request.settings) }, signal),
  };
}
