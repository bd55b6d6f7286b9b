// Aliases of tool names: a call by a name that a model learned elsewhere reaches our tool, without adding to the tool list.
import { isObject, type ToolCall } from '../core/index.ts';

const toolAliases: Readonly<Record<string, string>> = {
  agent_manage: 'manage_agents',
  file_delete: 'delete_file',
  file_list: 'list_files',
  file_read: 'read_file',
  file_search: 'grep',
  file_write: 'write_file',
  lsp_integration: 'code_intelligence',
  mcp_server_list: 'list_mcp_servers',
  oauth_flow: 'oauth_login',
  web_scrape: 'web_fetch',
};

/** The git tool of an operation: reading, changing the repository and remote access are three tools. */
const gitToolByOperation: Readonly<Record<string, string>> = {
  clone: 'git_remote',
  pull: 'git_remote',
  push: 'git_remote',
  commit: 'git_change',
  branch: 'git_change',
  switch: 'git_change',
};

/** Returns the name of our tool if the call uses an alias of it. A tool with exactly that name takes precedence. `commandTool` is the tool that runs commands. */
export function resolveToolAlias(
  { tool, input }: Pick<ToolCall, 'tool' | 'input'>,
  commandTool = 'run_command',
): string | undefined {
  if (tool === 'bash_exec' || (tool === 'run_command' && tool !== commandTool)) return commandTool;
  if (tool !== 'git_operations') return Object.hasOwn(toolAliases, tool) ? toolAliases[tool] : undefined;
  const { operation } = isObject(input) ? input : {};
  return (
    (typeof operation === 'string' && Object.hasOwn(gitToolByOperation, operation)
      ? gitToolByOperation[operation]
      : undefined) ?? 'git'
  );
}
