// What MCP servers had the last time, a file each, so that their tools are there before they are started.
import { hash as cryptoHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { approvalKey, parseCachedServer, type McpServer, type McpToolCache } from '../../tools/mcp/index.ts';
import { writeTextAtomic } from '../../stores/private-file.ts';

/** What is kept of one server is no larger than this: the rest is asked for at every start. */
const maxBytes = 4_000_000;

/** The memory in a folder, which only its owner can read. */
export type McpCache = McpToolCache & {
  remove(server: McpServer): void;
  /** Notes that nobody should wait for this server again, until it has been spoken to. */
  markSlow(server: McpServer): void;
  isSlow(server: McpServer): boolean;
};

const slowMarker = '"slow"';

/** What servers had, under the folder of what can be found out again. */
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
  const keep = (server: McpServer, text: string): void => {
    try {
      if (text.length <= maxBytes) writeTextAtomic(fileOf(server), text);
      else rmSync(fileOf(server), { force: true });
    } catch {
      // A full disk costs the next start some seconds, and nothing else.
    }
  };
  return {
    get(server) {
      try {
        return parseCachedServer(JSON.parse(textOf(server)));
      } catch {
        // It is not there, or no longer what we wrote.
        return undefined;
      }
    },
    set: (server, had) => keep(server, JSON.stringify(had)),
    remove: (server) => rmSync(fileOf(server), { force: true }),
    markSlow: (server) => keep(server, slowMarker),
    isSlow: (server) => textOf(server) === slowMarker,
  };
}
