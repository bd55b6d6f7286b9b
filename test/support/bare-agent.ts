// An agent with nothing to it: what a test adds is what the test is about.
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

/** The facts a session of this agent begins with, before anybody has said anything. */
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
