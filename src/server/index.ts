// The server's public names.
export { loadApiKeys, type Caller, type ApiKeys, type ApiKeySources, type Role } from './keys.ts';
export { startApiServer, defaultServerPort, type ApiServer, type ServerOptions } from './listening.ts';
export { defaultServerLimits, type ServerLimits } from './place.ts';
