// The core tools of the coding agent: which of them an agent has, and what the others need.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ToolSpec } from '../core/index.ts';
import { commandTools } from './approval-title.ts';
import { codingAgent } from './coding-agent.ts';
import type { Settings } from './settings/index.ts';

/** The core tools by name; a text says what a tool needs that not every user has. */
const coreTools: Readonly<Record<string, string>> = {
  read_file: '',
  write_file: '',
  edit_file: '',
  delete_file: '',
  list_files: '',
  glob: '',
  grep: '',
  git: '',
  git_change: '',
  git_remote: '',
  code_intelligence: '',
  web_fetch: '',
  web_search: 'a search engine: fairlead config set keys.BRAVE_API_KEY <key>, or search.searxng <URL>',
  http_request: '',
  spawn_agent: '',
  manage_agents: '',
  list_mcp_servers: 'an MCP server: fairlead mcp add <name> <command>',
  canvas_render: '',
  oauth_login: '',
};

/** The core tools that are loaded, those that need something, and those that are missing without a reason. */
export type CoreToolsReport = {
  readonly loaded: readonly string[];
  readonly needing: readonly { readonly tool: string; readonly needs: string }[];
  readonly missing: readonly string[];
};

/** Reports on the core tools among the tools of an agent. */
export function reportCoreTools(available: Iterable<string>): CoreToolsReport {
  const names = new Set(available);
  // An agent has one of the tools that run commands.
  const command = [...commandTools].find((name) => names.has(name));
  const absent = Object.entries(coreTools).filter(([name]) => !names.has(name));
  return {
    loaded: [...Object.keys(coreTools).filter((name) => names.has(name)), ...(command === undefined ? [] : [command])],
    needing: absent.flatMap(([tool, needs]) => (needs === '' ? [] : [{ tool, needs }])),
    missing: [
      ...absent.flatMap(([tool, needs]) => (needs === '' ? [tool] : [])),
      ...(command === undefined ? ['run_command'] : []),
    ],
  };
}

/** Creates the agent of these settings in an empty directory, so that no program of a project or an MCP server is started, and returns its tools. */
export async function loadToolSpecs(settings: Settings): Promise<readonly ToolSpec[]> {
  const empty = mkdtempSync(path.join(tmpdir(), 'fairlead-tools-'));
  const names = Object.keys(settings.dirs) as (keyof Settings['dirs'])[];
  const dirs = Object.fromEntries(names.map((name) => [name, path.join(empty, name)])) as Settings['dirs'];
  try {
    await using agent = await codingAgent({
      cwd: empty,
      settings: { ...settings, dirs },
      hooks: false,
      skills: false,
      model: { family: 'none', model: 'none', stream: neverAnswers },
    });
    const { tools } = await agent.resolve();
    return [...tools.values()].map(({ name, description, input }) => ({ name, description, input }));
  } finally {
    rmSync(empty, { recursive: true, force: true });
  }
}

/** Returns the names of the tools of an agent with these settings. */
export async function loadToolNames(settings: Settings): Promise<readonly string[]> {
  // The tool is there as soon as servers are configured.
  const hasServers = [path.join(settings.dirs.config, 'mcp.json'), path.resolve('.mcp.json')].some((file) =>
    existsSync(file),
  );
  const specs = await loadToolSpecs(settings);
  return [...specs.map(({ name }) => name), ...(hasServers ? ['list_mcp_servers'] : [])];
}

/** A model that is never asked. */
async function* neverAnswers(): AsyncGenerator<never> {}
