// The subcommands of `fairlead mcp`, for its help and for shell completion.

/** A subcommand of `fairlead mcp`. */
export type McpSubcommand = {
  readonly usage: string;
  readonly description: string;
  readonly options: readonly string[];
};

/** The usage of `fairlead mcp serve`. */
export const mcpServeUsage =
  'fairlead mcp serve [--allow-write] [--no-sandbox] [--http <port>] [--model <name>] [--max-turns <n>] [--max-budget-usd <dollars>]';

/** All subcommands except `serve`. */
export const mcpSubcommands: Readonly<Record<string, McpSubcommand>> = {
  add: {
    usage: '<name> <command …|url> [--env K=V] [--header "K: V"] [--type http|sse|ws] [--scope user|project]',
    description: 'add a server; options of the command follow --',
    options: ['env', 'header', 'type', 'scope'],
  },
  remove: { usage: '<name> [--scope user|project]', description: 'remove a server', options: ['scope'] },
  list: {
    usage: '[--json]',
    description: 'list configured servers and their status',
    options: ['json'],
  },
  tools: { usage: '<server> [--json]', description: 'start a server and list its tools', options: ['json'] },
  approve: {
    usage: '<server> [--yes]',
    description: 'approve a server, and its tools as they are now',
    options: ['yes'],
  },
  revoke: { usage: '<server>', description: 'remove an approval, the cached tools, and the login', options: [] },
  off: { usage: '<server> <tool>', description: 'do not offer a tool of a server to the model', options: [] },
  on: { usage: '<server> <tool>', description: 'offer it again, if it is approved', options: [] },
  login: { usage: '<server>', description: 'log in to a server; the login is saved', options: [] },
};
