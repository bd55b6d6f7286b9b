// Finds the author of the work that a call wants reviewed.
import { FairleadError, type ToolContext } from '../../core/index.ts';
import type { AgentIdentity } from './independence.ts';
import type { SubagentInfo } from './metadata.ts';

/** The identity of the author that a call names: a sub-agent of the session, or the session itself. */
export async function identifyAuthor(
  name: string,
  subagents: readonly SubagentInfo[],
  { state, agent }: Pick<ToolContext, 'state' | 'agent'>,
): Promise<AgentIdentity> {
  const { callingAgent, identifyCaller, identifySubagent } = await import('./independence.ts');
  if (name === callingAgent) return identifyCaller(state, agent);
  const author = subagents.find(({ id }) => id === name);
  if (author) return identifySubagent(author);
  throw new FairleadError(
    'agent/unknown-author',
    `You have started no agent ${JSON.stringify(name.slice(0, 80))} whose work can be reviewed.`,
    {
      blame: 'model',
      hint: `Name one of your agents, or "${callingAgent}" for your own work.`,
    },
  );
}
