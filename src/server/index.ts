// The server's public names.
export { readKeys, type Caller, type Keys, type KeySources, type Role } from './keys.ts';
export { openServer, usualPort, type ApiServer, type ServerOptions } from './listening.ts';
export { usualBounds, type Bounds } from './place.ts';
