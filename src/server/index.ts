// The server's public names.
export { loadApiKeys, type Caller, type ApiKeys, type ApiKeySources, type Role } from './http/keys.ts';
export { startApiServer, defaultServerPort, type ApiServer, type ServerOptions } from './http/server.ts';
export { defaultServerLimits, type ServerLimits } from './http/context.ts';
