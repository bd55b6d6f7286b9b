// Agents that the model may start, look at, speak to and stop.
import { subagentTools } from '../../agent/subagents/manage-tools.ts';
import type { SubagentManager } from '../../agent/subagents/manager.ts';
import type { Integration, IntegrationContext } from './context.ts';

/** Agents that the model may start, look at, speak to and stop; nothing of them is loaded before the first. */
export const loadSubagentTools = async (ground: IntegrationContext): Promise<Integration> => {
  let crew: Promise<SubagentManager> | undefined;
  const open = async (): Promise<SubagentManager> => {
    const { createSubagents } = await import('./subagents.ts');
    return createSubagents(ground);
  };
  return {
    tools: subagentTools(() => (crew ??= open())).map((tool) => ({ ...tool, deferred: true })),
    problems: [],
    close: async () => (await crew)?.close(),
  };
};
