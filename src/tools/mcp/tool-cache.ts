// Caches the tools of a server, so that they can be offered before it starts. The cache is not trusted: a tool counts only if its hash is approved.
import type { ServerCapabilities, Tool as Listed } from '@modelcontextprotocol/client';
import { isObject } from '../../core/index.ts';
import type { McpServer } from './server.ts';

/** What a server had when it was last connected. */
export type CachedMcpServer = {
  readonly tools: readonly Listed[];
  /** Whether it had resources, and prompts. */
  readonly resources: boolean;
  readonly prompts: boolean;
};

/** The cache. Neither function throws: a missing entry is loaded again. */
export type McpToolCache = {
  get(server: McpServer): CachedMcpServer | undefined;
  set(server: McpServer, had: CachedMcpServer): void;
};

/** Creates the cache entry of a server that has just connected. */
export const toCachedServer = (tools: readonly Listed[], offers: ServerCapabilities | undefined): CachedMcpServer => ({
  tools,
  resources: offers?.resources !== undefined,
  prompts: offers?.prompts !== undefined,
});

/** Parses a cache entry; undefined if it is invalid. */
export function parseCachedServer(value: unknown): CachedMcpServer | undefined {
  if (!isObject(value)) return undefined;
  const { tools, resources, prompts } = value;
  if (!Array.isArray(tools) || !tools.every(isListedTool)) return undefined;
  return { tools, resources: resources === true, prompts: prompts === true };
}

const isListedTool = (value: unknown): value is Listed =>
  isObject(value) &&
  typeof value['name'] === 'string' &&
  isObject(value['inputSchema']) &&
  ['title', 'description'].every((key) => ['string', 'undefined'].includes(typeof value[key])) &&
  (value['annotations'] === undefined || isObject(value['annotations']));
