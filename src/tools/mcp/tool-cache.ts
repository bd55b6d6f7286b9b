// What is kept of a server, so that its tools can be offered before it is started. It is believed in nothing: what it says of a tool counts only where its hash was approved.
import type { ServerCapabilities, Tool as Listed } from '@modelcontextprotocol/client';
import { isObject } from '../../core/index.ts';
import type { McpServer } from './server.ts';

/** What a server had when it was last spoken to. */
export type CachedMcpServer = {
  readonly tools: readonly Listed[];
  /** Whether it had resources, and prompts. */
  readonly resources: boolean;
  readonly prompts: boolean;
};

/** Where it is kept. Neither function throws: what cannot be kept is found out again. */
export type McpToolCache = {
  get(server: McpServer): CachedMcpServer | undefined;
  set(server: McpServer, had: CachedMcpServer): void;
};

/** What is to be kept of a server that has just said this of itself. */
export const toCachedServer = (tools: readonly Listed[], offers: ServerCapabilities | undefined): CachedMcpServer => ({
  tools,
  resources: offers?.resources !== undefined,
  prompts: offers?.prompts !== undefined,
});

/** What was kept, if it is that. */
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
