// Public API of the providers: open a model by name, list models, gateway. A provider family is loaded on first use.
import type { EmbeddedOptions, EmbeddedProvider } from './embedded/embedded.ts';
import type { openEmbeddingModel as OpenEmbeddingModel } from './embeddings.ts';
import type { listModels as ListModels, verifyKey as VerifyKey } from './models/list-models.ts';
export type { ChatOptions } from './openai-compatible/chat.ts';
export type { ChatCompat } from './openai-compatible/compat.ts';
export {
  blendedPrice,
  electricityCost,
  estimatePayback,
  monthlyCost,
  paybackMonths,
  type ElectricityUse,
  type MonthlyUsage,
  type MonthlyCost,
  type Payback,
  type PaybackInput,
} from './monthly-cost.ts';
export { discover, listProbedAddresses, type DiscoverOptions, type DiscoveredProvider } from './discover.ts';
export type {
  EmbeddedConsentRequest,
  EmbeddedOptions,
  EmbeddedProgress,
  EmbeddedProvider,
} from './embedded/embedded.ts';
export type { ChatTemplate, EmbeddedModel, ModelFilePart } from './embedded/models.ts';
export { providerAliases, families, findFamily, type ProviderProtocol, type ProviderFamily } from './families.ts';
export { keepsDataLocal } from './data-locality.ts';
export {
  breakerStates,
  createGatewayState,
  gateway,
  type BreakerState,
  type GatewayOptions,
  type GatewayState,
} from './gateway/gateway.ts';
export { readRateLimits, type RateLimitRule } from './gateway/rate-limit-rules.ts';
export { withModelSettings } from './with-settings.ts';
export { systemClock, type Clock } from './gateway/clock.ts';
export type { ProviderEmbeddingModel } from './embeddings.ts';
export type { ListModelsOptions, ProviderRef } from './models/list-models.ts';
export type { ModelCapability, ModelInfo } from './models/model-info.ts';
export type { OllamaOptions } from './ollama/ollama.ts';
export { responseCost, priceOf, type ModelPrice, type PriceBook } from './prices.ts';
export { openProvider, type OpenProviderOptions, type ProviderFactory } from './registry.ts';
export {
  guessModelRef,
  parseModelRef,
  resolveModel,
  type OpenAIApi,
  type Environment,
  type ModelRef,
  type ResolvedModelRef,
  resolveBaseUrl,
  findApiKey,
} from './resolve.ts';

/** Opens the embedded model, with a prompt before the download; loaded on first use. */
export const openEmbedded = async (options: EmbeddedOptions = {}): Promise<EmbeddedProvider> =>
  (await import('./embedded/embedded.ts')).embeddedProvider(options);

/** Lists the models of a provider with their capabilities; loaded on first use. */
export const listModels: typeof ListModels = async (ref, options) =>
  (await import('./models/list-models.ts')).listModels(ref, options);

/** Verifies with a request that a provider accepts a key, and returns its models; throws the error of the provider if it does not. Loaded on first use. */
export const verifyKey: typeof VerifyKey = async (ref, options) =>
  (await import('./models/list-models.ts')).verifyKey(ref, options);

/** Opens an embedding model by name; loaded on first use. */
export const openEmbeddingModel = async (
  ...[ref, options]: Parameters<typeof OpenEmbeddingModel>
): Promise<ReturnType<typeof OpenEmbeddingModel>> => (await import('./embeddings.ts')).openEmbeddingModel(ref, options);
