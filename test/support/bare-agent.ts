// A minimal agent: a test adds only the parts that it is about.
import type { ResolvedAgent, Fact } from '../../src/core/index.ts';

/** The parts that most tests leave empty. */
export const bareAgentParts: Pick<ResolvedAgent, 'rules' | 'reminders' | 'gates' | 'stops' | 'checks' | 'settings'> = {
  rules: [],
  reminders: [],
  gates: [],
  stops: [],
  checks: [],
  settings: {},
};

/** The initial facts of a session of this agent, before any input. */
export const createSessionStartFacts = (agent: ResolvedAgent): readonly Fact[] => [
  { type: 'session-started', session: 's' },
  {
    type: 'epoch-started',
    epoch: 1,
    reason: 'started',
    system: agent.system,
    model: agent.provider.model,
    tools: [...agent.tools.values()]
      .filter((each) => !each.deferred)
      .map(({ name, description, input }) => ({ name, description, input })),
  },
];
