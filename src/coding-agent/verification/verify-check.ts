// Adds the verification of answers to an agent, as a check.
import type { Session } from '../../agent/index.ts';
import type { Provider } from '../../core/index.ts';
import type { CodingAgent } from '../create-agent.ts';
import type { ModelHost } from '../models/open-model.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import type { Settings } from '../settings/index.ts';
import { demandView, isVerificationDemanded } from './verification-demand.ts';

/** What a verification in a run reads when an answer is there. */
export type VerifyCheckContext = {
  readonly settings: Settings;
  readonly host: ModelHost;
  /** Whether every answer is verified; false: only if the log of the session demands it. True by default. */
  readonly isWanted?: boolean;
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
export const withVerifyCheck = (
  agent: CodingAgent,
  { current, isWanted = true, ...context }: VerifyCheckContext,
): CodingAgent => ({
  ...agent,
  forModel(provider, callsTools) {
    const parts = agent.forModel(provider, callsTools);
    return {
      ...parts,
      views: [...(parts.views ?? []), demandView],
      checks: [
        ...parts.checks,
        {
          name: 'verify',
          appliesTo: (state) => isWanted || isVerificationDemanded(state),
          async run(state, signal) {
            const { open, model, private: isPrivate } = current();
            if (!open || !model) return { type: 'abstained', why: 'There is no session to verify.' };
            const { runVerifyCheck } = await import('./verify-session.ts');
            const { session } = open;
            return runVerifyCheck({ ...context, session, model, isPrivate, cwd: agent.workspace.cwd }, state, signal);
          },
        },
      ],
    };
  },
});
