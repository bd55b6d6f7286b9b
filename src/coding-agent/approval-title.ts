// The question about a call in a few words, for the lists and titles of a user interface.
import path from 'node:path';
import { escapeInvisibleLine, isObject, type Json, type ToolCall } from '../core/index.ts';

/** The tools whose input is a command line. */
export const commandTools: ReadonlySet<string> = new Set(['run_command', 'execute_sandboxed_command']);

/** The parts of the name of an MCP tool: its server and its own name. */
export function parseToolName(name: string): { readonly tool: string; readonly server?: string } {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  return server === undefined || tool === undefined ? { tool: name } : { tool, server };
}

/** Formats the question about a call in a few words: `Run this command?`, `Edit src/a.ts?`. */
export function formatApprovalTitle({ tool, input }: Pick<ToolCall, 'tool' | 'input'>): string {
  const { path: file, paths, url, command } = isObject(input) ? input : {};
  const shown = (text: Json | undefined): string => {
    const line = escapeInvisibleLine(String(text ?? ''));
    return line.length > maxTitleChars ? `…${line.slice(-maxTitleChars)}` : line;
  };
  if (commandTools.has(tool)) return formatCommandTitle(command);
  const verb = fileVerbs[tool];
  if (verb !== undefined && typeof file === 'string') return `${verb} ${shown(path.normalize(file))}?`;
  if (tool === 'apply_patch' && Array.isArray(paths))
    return paths.length === 1 ? `Patch ${shown(paths[0])}?` : `Patch ${paths.length} files?`;
  if (typeof url === 'string') return `Call ${tool} with ${shown(url)}?`;
  const { server, tool: name } = parseToolName(tool);
  return server === undefined ? `Call ${shown(tool)}?` : `Call ${shown(name)} of the MCP server ${shown(server)}?`;
}

/** The number of lines is in the title: the first line alone could be taken for all of it. */
function formatCommandTitle(command: Json | undefined): string {
  const count = typeof command === 'string' ? command.split('\n').length : 1;
  return count === 1 ? 'Run this command?' : `Run this command of ${count} lines?`;
}

const maxTitleChars = 100;

const fileVerbs: Readonly<Record<string, string>> = {
  edit_file: 'Edit',
  write_file: 'Write',
  delete_file: 'Delete',
  read_file: 'Read',
};
