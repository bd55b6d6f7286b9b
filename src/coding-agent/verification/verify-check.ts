// Adds the verification of answers to an agent, as a check.
import type { Session } from '../../agent/index.ts';
import type { Provider } from '../../core/index.ts';
import type { CodingAgent } from '../create-agent.ts';
import type { ModelHost } from '../models/open-model.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import type { Settings } from '../settings/index.ts';
import { runVerifyCheck } from './verify-session.ts';

/** What a verification in a run reads when an answer is there. */
export type VerifyCheckContext = {
  readonly settings: Settings;
  readonly host: ModelHost;
  /** Wraps each judge that is opened, such as with the budget of a tenant. */
  readonly wrapProvider?: (provider: Provider) => Provider;
  /** The session, the model that answers, and whether only models on the user's own machines may read the answer. */
  readonly current: () => {
    readonly open?: { readonly session: Session };
    readonly model?: ResolvedModel;
    readonly private: boolean;
  };
};

/** Returns the agent with the check that verifies its answers. */
export const withVerifyCheck = (agent: CodingAgent, { current, ...context }: VerifyCheckContext): CodingAgent => ({
  ...agent,
  forModel(provider, callsTools) {
    const parts = agent.forModel(provider, callsTools);
    return {
      ...parts,
      checks: [
        ...parts.checks,
        {
          name: 'verify',
          async run(state, signal) {
            const { open, model, private: isPrivate } = current();
            if (!open || !model) return { type: 'abstained', why: 'There is no session to verify.' };
            const { session } = open;
            return runVerifyCheck({ ...context, session, model, isPrivate, cwd: agent.workspace.cwd }, state, signal);
          },
        },
      ],
    };
  },
});
