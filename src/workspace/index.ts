// The workspace's public names: the world that tools may touch.
export { isSecret, publicEnvironment } from './environment.ts';
export { localWorkspace, protectedNames, type LocalOptions } from './local.ts';
export { isPublic } from './net/addresses.ts';
export { withNetwork, type NetOptions } from './net/network.ts';
