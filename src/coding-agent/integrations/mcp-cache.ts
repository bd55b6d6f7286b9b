// Caches the tool lists of MCP servers, one file each, so that their tools are available before the servers are started.
import { hash as cryptoHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { approvalKey, parseCachedServer, type McpServer, type McpToolCache } from '../../tools/mcp/index.ts';
import { writeTextAtomic } from '../../stores/index.ts';

/** The maximum size of the cache of one server; the tools of a larger one are listed at every start. */
const maxBytes = 4_000_000;

/** A cache in a directory that only its owner can read. */
export type McpCache = McpToolCache & {
  remove(server: McpServer): void;
  /** Records that the server starts slowly, so that the next start does not wait for it. */
  markSlow(server: McpServer): void;
  isSlow(server: McpServer): boolean;
};

const slowMarker = '"slow"';

/** Opens the cache in a cache directory. */
export function createMcpCache(cache: string): McpCache {
  const fileOf = (server: McpServer): string => {
    const { subject, hash } = approvalKey(server);
    return `${cache}/mcp/${cryptoHash('sha256', `${subject} ${hash}`).slice(0, 32)}.json`;
  };
  const textOf = (server: McpServer): string => {
    try {
      return readFileSync(fileOf(server), 'utf8');
    } catch {
      return '';
    }
  };
  const save = (server: McpServer, text: string): void => {
    try {
      if (text.length <= maxBytes) writeTextAtomic(fileOf(server), text);
      else rmSync(fileOf(server), { force: true });
    } catch {
      // Without the cache the next start is slower.
    }
  };
  return {
    get(server) {
      try {
        return parseCachedServer(JSON.parse(textOf(server)));
      } catch {
        // It is missing or damaged.
        return undefined;
      }
    },
    set: (server, cached) => save(server, JSON.stringify(cached)),
    remove: (server) => rmSync(fileOf(server), { force: true }),
    markSlow: (server) => save(server, slowMarker),
    isSlow: (server) => textOf(server) === slowMarker,
  };
}
