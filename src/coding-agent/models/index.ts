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
} from './resolve-model.ts';
export { openModel, type ModelHost } from './open-model.ts';
export { announceDefaultModel, getDefaultModel } from './default-model.ts';
export { formatFoundReason, discoverModel } from './discover-model.ts';
export { testConnection } from './test-connection.ts';
