// What a provider that wraps another one keeps of it: everything but the stream.
import type { Provider } from './ports.ts';

/** Returns the traits of a provider, for a provider that wraps it. */
export const providerTraits = ({
  family,
  model,
  price,
  contextWindow,
  supportsImages,
  usesChatTemplate,
}: Provider): Omit<Provider, 'stream'> => ({
  family,
  model,
  ...(price ? { price } : {}),
  ...(contextWindow === undefined ? {} : { contextWindow }),
  ...(supportsImages === undefined ? {} : { supportsImages }),
  ...(usesChatTemplate === undefined ? {} : { usesChatTemplate }),
});
