// What a session last read of a file, in this process or an earlier one, taken from its log.
import { USE_TOOL, type TouchedFile } from '../core/index.ts';

/**
 * The option `lastRead` of a write: the hash of the file as a tool of this program last read or wrote it. What an MCP server
 * says about a file does not count: its results have the same shape, and it must not pass for a read.
 */
export function lastReadOf(
  state: { readonly files?: readonly TouchedFile[] } | undefined,
  location: string,
): { readonly lastRead?: string } {
  const { tool = '', content } = state?.files?.find(({ path }) => path === location) ?? {};
  return content === undefined || tool === USE_TOOL || tool.startsWith('mcp__') ? {} : { lastRead: content };
}
