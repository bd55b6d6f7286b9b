// Adds the verification of answers to an agent, as a check, and records that a session needs it.
import type { Session } from '../../agent/index.ts';
import {
  parseVerificationDemand,
  readView,
  verificationDemandKey,
  type NamedView,
  type Provider,
  type RunState,
} from '../../core/index.ts';
import type { CodingAgent } from '../create-agent.ts';
import type { ModelHost } from '../models/open-model.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import type { Settings } from '../settings/index.ts';

/** Whether the answers of the session are verified, as it was last recorded. */
const demandView: NamedView<boolean> = {
  name: verificationDemandKey,
  initial: false,
  on: (isDemanded, event) => parseVerificationDemand(event) ?? isDemanded,
  serialize: (isDemanded) => isDemanded,
  restore: (saved) => saved === true,
};

/** Whether the log says that the answers of this session are verified. */
export const isVerificationDemanded = (state: RunState): boolean => readView(state, demandView);

/** Records whether answers are verified. A run that was interrupted keeps what it was started with. */
export async function recordVerificationDemand(session: Session, isWanted: boolean): Promise<void> {
  const { state } = session;
  const isDemanded = isVerificationDemanded(state);
  if (isWanted === isDemanded || (isDemanded && state.run !== undefined)) return;
  await session.annotate(verificationDemandKey, isWanted);
}

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
