// What `fairlead mcp` does beside being a server, by name: for its help and for shells that complete.

/** Something that can be done with the MCP servers of a folder. */
export type McpSubcommand = {
  readonly usage: string;
  readonly description: string;
  readonly options: readonly string[];
};

/** How the server that this program is itself is started. */
export const mcpServeUsage =
  'fairlead mcp serve [--allow-write] [--no-sandbox] [--http <port>] [--model <name>] [--max-turns <n>] [--max-budget-usd <dollars>]';

/** Everything that can be done with servers. */
export const mcpSubcommands: Readonly<Record<string, McpSubcommand>> = {
  list: {
    usage: '[--json]',
    description: 'the servers of this folder and how they stand; starts none',
    options: ['json'],
  },
  tools: { usage: '<server> [--json]', description: 'start a server and list its tools', options: ['json'] },
  approve: {
    usage: '<server> [--yes]',
    description: 'let a server be used, and its tools as they are now',
    options: ['yes'],
  },
  revoke: { usage: '<server>', description: 'forget an approval, the tools that were seen, and a login', options: [] },
  login: { usage: '<server>', description: 'log in to a server; the login is kept', options: [] },
};
