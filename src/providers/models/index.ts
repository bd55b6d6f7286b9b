// Lists of models: what local servers and hosted providers offer.
export { lookUpKnownModel } from './known-models.ts';
export { type ModelInfo } from './model-info.ts';
export { listModels } from './list-models.ts';
