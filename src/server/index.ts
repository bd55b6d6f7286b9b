// Public API of the server: the HTTP API of a fleet, its keys and its limits.
export { createServer, type CreateServerOptions, startApiServer } from './http/server.ts';
export { defaultServerPort, type ApiServer, type ServerOptions } from './http/server-options.ts';
export { blockedExitCode, startControlThread, type ControlThread, type ControlThreadOptions } from './control/index.ts';
export { defaultServerLimits, type ServerLimits } from './http/context.ts';
export {
  createApiKeys,
  loadApiKeys,
  type ApiKey,
  type ApiKeys,
  type ApiKeySources,
  type Caller,
  type Role,
} from './http/keys.ts';
