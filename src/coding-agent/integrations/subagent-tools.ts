// Loads the tools that start and manage sub-agents, the agent files, and the gate that asks the user above a number or a cost. Their code is loaded with the first sub-agent.
import { existsSync } from 'node:fs';
import { getAgentDirs } from '../../agent/project-files/index.ts';
import { subagentTools, type SubagentManager } from '../../agent/subagents/index.ts';
import type { Gate } from '../../core/index.ts';
import type { Integration, IntegrationContext } from './context.ts';

/** Loads the tools that start and manage sub-agents. */
export async function loadSubagentTools(context: IntegrationContext): Promise<Integration> {
  let manager: Promise<SubagentManager> | undefined;
  const hasFiles = getAgentDirs(context.paths).some(({ folder }) => existsSync(folder));
  const loaded = hasFiles ? await (await import('./agent-files.ts')).loadAgentFiles(context) : undefined;
  const { files = [], problems = [], section = '' } = loaded ?? {};
  const open = async (): Promise<SubagentManager> => {
    const { createSubagents } = await import('./subagents.ts');
    return createSubagents(context, files);
  };
  const openOnce = (): Promise<SubagentManager> => (manager ??= open());
  const list: SubagentManager['list'] = async (session) => (await openOnce()).list(session);
  const startable = files.filter(({ status, disabled }) => status === 'trusted' && disabled === undefined);
  const [start, manage] = subagentTools(
    openOnce,
    startable.map(({ name }) => name),
  );
  const [tool, messageTool] = [
    { ...start, deferred: true },
    { ...manage, deferred: true },
  ];
  const consent = { context, files, list, tool, messageTool };
  const gate: Gate = async (call, state) => {
    if (call.tool !== tool.name && call.tool !== messageTool.name) return { type: 'allow' };
    const { createConsentGate } = await import('./subagent-consent.ts');
    return createConsentGate(consent)(call, state);
  };
  return {
    tools: [tool, messageTool],
    problems,
    extension: { gates: [gate] },
    ...(section === '' ? {} : { system: section }),
    agents: {
      files,
      list,
      async stop(id) {
        const child = (await manager)?.running(id);
        child?.stop();
        await child?.done;
        return child !== undefined;
      },
      async describeStart(call, state) {
        if (call.tool !== consent.tool.name) return [];
        return (await import('./subagent-consent.ts')).describeStart(call.input, state, consent);
      },
    },
    close: async () => (await manager)?.close(),
  };
}
