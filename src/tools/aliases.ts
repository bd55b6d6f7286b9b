// Other names of our tools: a model that calls one by a name it learnt elsewhere reaches the tool, and no list grows by that.
import { isObject, type ToolCall } from '../core/index.ts';

const toolAliases: Readonly<Record<string, string>> = {
  agent_manage: 'manage_agents',
  bash_exec: 'run_command',
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

/** The git tool for an operation: what looks, what changes the repository, and what reaches others are three. */
const gitToolByOperation: Readonly<Record<string, string>> = {
  clone: 'git_remote',
  pull: 'git_remote',
  push: 'git_remote',
  commit: 'git_change',
  branch: 'git_change',
  switch: 'git_change',
};

/** The name of our tool that is meant by this call, if it is another name of one. A tool of that very name goes first. */
export function resolveToolAlias({ tool, input }: Pick<ToolCall, 'tool' | 'input'>): string | undefined {
  if (tool !== 'git_operations') return Object.hasOwn(toolAliases, tool) ? toolAliases[tool] : undefined;
  const { operation } = isObject(input) ? input : {};
  return (
    (typeof operation === 'string' && Object.hasOwn(gitToolByOperation, operation)
      ? gitToolByOperation[operation]
      : undefined) ?? 'git'
  );
}
