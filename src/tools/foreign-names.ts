// Names that the agent files of other programs use for tools, and the tools here that they stand for.
import { resolveToolAlias } from './aliases.ts';

/** The tools that a foreign name stands for: in a list of allowed tools, and in a list of forbidden ones, which takes all that can have the same effect. */
type ForeignTool = { readonly allows: readonly string[]; readonly forbids?: readonly string[] };

const editing = ['edit_file', 'apply_patch'];
const writing = ['write_file', ...editing, 'edit_notebook', 'delete_file'];
const commands = ['run_command', 'execute_sandboxed_command', 'command_output', 'stop_command'];
const shell: ForeignTool = { allows: commands, forbids: [...commands, 'run_code', 'git_change', 'git_remote'] };
const edit: ForeignTool = { allows: editing, forbids: writing };
const web = ['web_fetch', 'web_search'];
const agents: ForeignTool = { allows: ['spawn_agent', 'manage_agents'] };

/** By name in lower case: Claude Code, OpenCode and GitHub use the same words. */
const foreignTools: Readonly<Record<string, ForeignTool>> = {
  bash: shell,
  shell,
  powershell: shell,
  execute: shell,
  bashoutput: { allows: ['command_output'] },
  killbash: { allows: ['stop_command'] },
  killshell: { allows: ['stop_command'] },
  read: { allows: ['read_file'] },
  notebookread: { allows: ['read_file'] },
  write: { allows: ['write_file'], forbids: writing },
  edit,
  multiedit: edit,
  patch: edit,
  notebookedit: { allows: ['edit_notebook'] },
  glob: { allows: ['glob'] },
  grep: { allows: ['grep'] },
  ls: { allows: ['list_files'] },
  list: { allows: ['list_files'] },
  search: { allows: ['grep', 'glob', 'list_files'] },
  lsp: { allows: ['code_intelligence'] },
  webfetch: { allows: ['web_fetch'], forbids: ['web_fetch', 'http_request'] },
  websearch: { allows: ['web_search'] },
  web: { allows: web, forbids: [...web, 'http_request'] },
  todo: { allows: ['todo'] },
  todowrite: { allows: ['todo'] },
  todoread: { allows: ['todo'] },
  task: agents,
  agent: agents,
  'custom-agent': agents,
  skill: { allows: ['load_skill'] },
  askuserquestion: { allows: ['ask_user'] },
  question: { allows: ['ask_user'] },
};

/**
 * The tools that a name in an agent file stands for; a name that is not foreign stands for itself. A name that ends with `*` is the beginning
 * of names: `mcp__docs` and `docs/*` are all tools of the MCP server `docs`.
 */
export function resolveForeignTools(name: string, use: 'allow' | 'forbid'): readonly string[] {
  const [, server, tool] = /^(?:mcp__)?([\w.-]+)\/([\w.-]+|\*)$/.exec(name) ?? [];
  if (server !== undefined && tool !== undefined) return [`mcp__${server}__${tool}`];
  const [, whole] = /^(mcp__(?:(?!__)[\w.-])+)(?:__\*|\*)?$/.exec(name) ?? [];
  if (whole !== undefined) return [`${whole}__*`];
  const key = name.toLowerCase();
  const foreign = Object.hasOwn(foreignTools, key) ? foreignTools[key] : undefined;
  if (foreign) return use === 'forbid' ? (foreign.forbids ?? foreign.allows) : foreign.allows;
  return [resolveToolAlias({ tool: name, input: {} }) ?? name];
}

/** Whether a name, or a beginning of names that ends with `*`, selects a tool. */
export const selectsTool = (pattern: string, tool: string): boolean =>
  pattern.endsWith('*') ? tool.startsWith(pattern.slice(0, -1)) : pattern === tool;
