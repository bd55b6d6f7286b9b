// Keeps the results of the tools that the setting quarantine.tools names in quarantine.
import type { Tool } from '../../core/index.ts';
import { withQuarantine } from '../../guards/flow/index.ts';

/** Creates the function that wraps a tool if it is named; a name that ends with `*` stands for all that begin so. */
export function createQuarantineWrapper(setting: string): (tool: Tool) => Tool {
  const names = setting.split(' ').filter((name) => name !== '');
  return (tool) =>
    names.some((name) => (name.endsWith('*') ? tool.name.startsWith(name.slice(0, -1)) : tool.name === name))
      ? withQuarantine(tool)
      : tool;
}
