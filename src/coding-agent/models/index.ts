// Models of the coding agent: find, choose, open and test them.
export {
  listRouterNames,
  formatNoToolsWarning,
  type ResolvedModel,
  findModel,
  lookUpModel,
  expandModelName,
  getModelEndpoint,
  formatEndpoint,
  toResolvedModel,
  isRouterName,
  toRouterModel,
  defaultEndpoint,
  getDefaultModel,
} from './resolve-model.ts';
export { requireModel, unknownModelError } from './unknown-model.ts';
export { openModel, type ModelHost, testConnection } from './open-model.ts';
export {
  findModelSources,
  formatDestination,
  formatFoundReason,
  type FindSourcesOptions,
  type ModelSource,
} from './model-sources.ts';
export { adoptModel } from './adopt-model.ts';
export { resolveModelUnattended, selectStartModel, type StartModelOptions } from './start-model.ts';
export {
  chooseModel,
  findWithProgress,
  listModelChoices,
  listOtherChoices,
  takeChoice,
  type ChooseModelOptions,
  type ChosenModel,
  type ModelChoice,
  type ModelChooser,
} from './choose-model.ts';
export {
  formatLoginTarget,
  hasKey,
  listLogins,
  login,
  loginProviders,
  logout,
  type LoginRequest,
  type LoginResult,
} from './login.ts';
