// The options of the subcommands of `fairlead mcp`, as a shell completes them.
import type { CompletionFlag } from './completion-flag.ts';

const flag = (name: string, description: string, value?: CompletionFlag['value']): CompletionFlag => ({
  spellings: [`--${name}`],
  description,
  ...(value === undefined ? {} : { value }),
});

const words = (...names: readonly string[]): CompletionFlag['value'] =>
  names.map((word) => ({ word, description: '' }));

/** The options by name. */
export const mcpVerbFlags: Readonly<Record<string, CompletionFlag>> = {
  json: flag('json', 'print JSON'),
  env: flag('env', 'a variable of the command, K=V', 'anything'),
  header: flag('header', 'a header of the URL, "K: V"', 'anything'),
  type: flag('type', 'http, sse or ws', words('http', 'sse', 'ws')),
  scope: flag('scope', 'user or project', words('user', 'project')),
};
