// Agents that the model may start, look at, speak to and stop.
import { agentTools } from '../../agent/agents/agent-tools.ts';
import type { Crew } from '../../agent/agents/crew.ts';
import type { Equipment, Ground } from './ground.ts';

/** Agents that the model may start, look at, speak to and stop; nothing of them is loaded before the first. */
export const agentEquipment = async (ground: Ground): Promise<Equipment> => {
  let crew: Promise<Crew> | undefined;
  const open = async (): Promise<Crew> => {
    const { crewFor } = await import('./agents-crew.ts');
    return crewFor(ground);
  };
  return {
    tools: agentTools(() => (crew ??= open())).map((tool) => ({ ...tool, hidden: true })),
    problems: [],
    close: async () => (await crew)?.close(),
  };
};
