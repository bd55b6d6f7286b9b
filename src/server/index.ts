// The server's public names.
export { readKeys, type Caller, type Keys, type KeySources, type Role } from './keys.ts';
export { earFor, type Ear } from './live.ts';
export { openServer, usualPort, type ApiServer, type ServerOptions } from './listening.ts';
export type { LiveText } from './lookout.ts';
export { usualBounds, type Bounds } from './place.ts';
