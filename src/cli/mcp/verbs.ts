// What `fairlead mcp` does beside being a server, by name: for its help and for shells that complete.

/** Something that can be done with the MCP servers of a folder. */
export type Verb = { readonly usage: string; readonly about: string; readonly options: readonly string[] };

/** How the server that this program is itself is started. */
export const serveUsage =
  'fairlead mcp serve [--allow-write] [--no-sandbox] [--http <port>] [--model <name>] [--max-turns <n>] [--max-budget-usd <dollars>]';

/** Everything that can be done with servers. */
export const verbs: Readonly<Record<string, Verb>> = {
  list: { usage: '[--json]', about: 'the servers of this folder and how they stand; starts none', options: ['json'] },
  tools: { usage: '<server> [--json]', about: 'start a server and list its tools', options: ['json'] },
  approve: {
    usage: '<server> [--yes]',
    about: 'let a server be used, and its tools as they are now',
    options: ['yes'],
  },
  revoke: { usage: '<server>', about: 'forget an approval, the tools that were seen, and a login', options: [] },
  login: { usage: '<server>', about: 'log in to a server; the login is kept', options: [] },
};
