// The models: opening one by name, listing what there is, and the gateway around them. A family is loaded when it is chosen.
import type { EmbeddedOptions, EmbeddedProvider } from './embedded/embedded.ts';
export type { ChatOptions } from './chat/chat.ts';
export type { ChatQuirks } from './chat/quirks.ts';
export { blended, monthlyCost, paybackMonths, type Month, type MonthCost } from './costs.ts';
export { discover, type DiscoverOptions, type Found } from './discover.ts';
export type { EmbeddedAsk, EmbeddedOptions, EmbeddedProgress, EmbeddedProvider } from './embedded/embedded.ts';
export type { ChatTemplate, EmbeddedModel, ModelPiece } from './embedded/models.ts';
export { aliases, families, familyOf, type Dialect, type Family } from './families.ts';
export { gateway, type GatewayOptions } from './gateway/gateway.ts';
export { systemClock, type Clock } from './gateway/clock.ts';
export { breakerStates, gatewayState, type BreakerState, type GatewayState } from './gateway/state.ts';
export { listModels, type ListOptions, type ListRef } from './models/models.ts';
export type { Capability, ModelInfo } from './models/info.ts';
export type { OllamaOptions } from './ollama/ollama.ts';
export { costOfAnswer, priceOf, type ModelPrice, type PriceBook } from './prices.ts';
export { openProvider, type OpenOptions, type ProviderMaker } from './registry.ts';
export { partsOf, resolveModel, type Api, type Environment, type ModelRef, type Resolved } from './resolve.ts';

/** Opens the embedded model with someone to ask before it is fetched; loaded only now. */
export const openEmbedded = async (options: EmbeddedOptions = {}): Promise<EmbeddedProvider> =>
  (await import('./embedded/embedded.ts')).embeddedProvider(options);
