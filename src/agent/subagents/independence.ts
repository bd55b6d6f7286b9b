// The independence of a review: the agent that wrote does not review. Authors and reviewers are compared by the identities in the log.
import { FairleadError, type ResolvedAgent, type RunState } from '../../core/index.ts';
import type { SubagentInfo } from './metadata.ts';

/** The identity of an author or of a reviewer: the name of the agent, the family of its model, and its session. */
export type AgentIdentity = { readonly agent: string; readonly family: string; readonly session: string };

/** A review as the log of the reviewer records it. */
export type ReviewRecord = {
  readonly author: AgentIdentity;
  readonly reviewer: AgentIdentity;
  /** How independent the review is, in one sentence. */
  readonly note: string;
};

/** The author that stands for the calling session in `reviews`. */
export const callingAgent = 'self';

/** The record of a review. Throws if the reviewer is the author, or the same agent with the same model family in another session. */
export function createReviewRecord(author: AgentIdentity, reviewer: AgentIdentity): ReviewRecord {
  if (author.session === reviewer.session)
    throw dependentError(`${reviewer.agent} wrote this work, so it cannot review it.`);
  const isSameFamily = author.family !== '' && author.family === reviewer.family;
  if (author.agent === reviewer.agent && (isSameFamily || author.family === '' || reviewer.family === ''))
    throw dependentError(
      `The agent ${author.agent} with the model family ${author.family || 'that is not known'} wrote this work, so another session of it cannot review it.`,
    );
  return { author, reviewer, note: formatIndependence(author, reviewer, isSameFamily) };
}

function formatIndependence(author: AgentIdentity, reviewer: AgentIdentity, isSameFamily: boolean): string {
  if (isSameFamily)
    return `Review by another agent of the same model family (${author.family}): it is not independent of the model.`;
  if (author.family === '' || reviewer.family === '')
    return 'Review by another agent; the family of a model is not known, so it may not be independent of the model.';
  return `Review by another agent of another model family (${reviewer.family}, the author has ${author.family}).`;
}

const dependentError = (message: string): FairleadError =>
  new FairleadError('agent/not-independent', message, {
    blame: 'model',
    hint: 'Start another agent for the review, with another name or a model of another family.',
  });

/** The family of a model by its name, and by the provider if it has models of one family only; empty if it is not known. */
async function findFamily(model: string, provider: string | undefined): Promise<string> {
  const { getModelFamily, unknownFamily } = await import('../../checks/judges/index.ts');
  const family = getModelFamily(model, provider);
  return family === unknownFamily ? '' : family;
}

/** The identity of a sub-agent, from its log. Without the name of a file each agent is another one. */
export const identifySubagent = async ({ id, metadata, state }: SubagentInfo): Promise<AgentIdentity> => ({
  agent: metadata.agent ?? id,
  family: await findFamily(state.model, state.modelOrigin.modelProvider),
  session: state.session || id,
});

/** The identity of the session that makes a call. */
export const identifyCaller = async (
  state: RunState,
  { provider }: Pick<ResolvedAgent, 'provider'>,
): Promise<AgentIdentity> => ({
  agent: callingAgent,
  family: await findFamily(provider.model, provider.family),
  session: state.session,
});

/** The identity of a sub-agent that is about to start. */
export const identifyStart = async (
  { id, agent }: { readonly id: string; readonly agent: string | undefined },
  provider: ResolvedAgent['provider'],
): Promise<AgentIdentity> => ({
  agent: agent ?? id,
  family: await findFamily(provider.model, provider.family),
  session: id,
});
