// Models of the coding agent: find, choose, open and test them.
export {
  listRouterNames,
  formatNoToolsWarning,
  type ResolvedModel,
  resolveModelUnattended,
  findModel,
  getModelEndpoint,
  formatEndpoint,
  toResolvedModel,
  isRouterName,
  unknownModelError,
  toRouterModel,
  defaultEndpoint,
  announceDefaultModel,
  getDefaultModel,
} from './resolve-model.ts';
export { openModel, type ModelHost, testConnection } from './open-model.ts';
export { formatFoundReason, discoverModel } from './discover-model.ts';
