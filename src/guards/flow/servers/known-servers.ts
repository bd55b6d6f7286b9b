// The MCP servers for whose tools declarations are written.
import type { ServerDeclarations } from '../types.ts';
import { localServers } from './local-servers.ts';
import { workServers } from './work-servers.ts';

/** All known servers. */
export const knownServers: readonly ServerDeclarations[] = [...workServers, ...localServers];
