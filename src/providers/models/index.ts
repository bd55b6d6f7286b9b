// Exports of src/providers/models for other modules.
export { lookUpKnownModel } from './known-models.ts';
export { type ModelInfo } from './model-info.ts';
export { listModels } from './list-models.ts';
