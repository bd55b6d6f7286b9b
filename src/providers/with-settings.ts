// Wraps a provider so that each request has settings that can change between requests, such as the reasoning effort and streaming.
import type { ModelSettings, Provider } from '../core/index.ts';

/** Returns a provider that adds the settings to each request; a setting replaces that of the request. */
export const withModelSettings = (provider: Provider, settings: () => ModelSettings): Provider => ({
  ...provider,
  stream: (request, signal) =>
    provider.stream({ ...request, settings: { ...request.settings, ...settings() } }, signal),
});
