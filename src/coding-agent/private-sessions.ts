// Private sessions: a label that is recorded once and never removed, after which only models on the user's own machines may read the session.
import type { Session } from '../agent/index.ts';
import { FairleadError, readView, type ResolvedAgent, type NamedView } from '../core/index.ts';
import { findFamily, keepsDataLocal } from '../providers/index.ts';
import type { Settings } from './settings/index.ts';
import type { ResolvedModel } from './models/resolve-model.ts';

const privacyKey = 'privacy/labelled';

/** Whether the session was ever labelled private: its messages stay private if the label is no longer demanded. */
export const privacyView: NamedView<boolean> = {
  name: 'privacy',
  initial: false,
  on: (labelled, event) => labelled || (event.type === 'annotation-added' && event.key === privacyKey),
  serialize: (labelled) => labelled,
  restore: (saved) => saved === true,
};

/** Whether the session is private. */
export const isPrivateSession = ({ state }: Pick<Session, 'state'>): boolean => readView(state, privacyView);

/** The line of AGENTS.md that demands privacy. AGENTS.md cannot remove the label. */
const privateLine = /^[ \t]*private:[ \t]*(true|yes)[ \t]*$/im;

/** The source of the demand for privacy: a flag, a setting or AGENTS.md; absent if there is none. */
export function findPrivacyLabel(
  flags: { readonly private: boolean },
  settings: Pick<Settings, 'private'>,
  instructions: { readonly text: string; readonly unacceptedText?: string },
): string | undefined {
  if (flags.private) return '--private';
  if (settings.private) return 'the setting "private"';
  // A demand counts before its file was accepted: it takes nothing from the user.
  const { text, unacceptedText = '' } = instructions;
  return privateLine.test(text) || privateLine.test(unacceptedText) ? 'AGENTS.md' : undefined;
}

/** Records the label, unless the session has it. */
export async function markPrivate(session: Session, by: string | undefined): Promise<void> {
  if (by !== undefined && !isPrivateSession(session)) await session.annotate(privacyKey, { by });
}

/** Whether a model runs on the user's own machines. */
export async function isLocalModel(
  { ref, isDeclaredLocal }: ResolvedModel,
  { env, privateHosts }: Settings,
): Promise<boolean> {
  if (isDeclaredLocal !== undefined) return isDeclaredLocal;
  if (!findFamily(ref.provider)) return ref.provider === 'scripted' || ref.provider === 'replay';
  return keepsDataLocal(ref, env, privateHosts);
}

/** Throws if a private session would be sent to a model that is not local. */
export async function assertLocalModel(model: ResolvedModel, settings: Settings): Promise<void> {
  if (await isLocalModel(model, settings)) return;
  throw new FairleadError(
    'routing/private',
    `This session is private, and ${model.name} is not on your own machines.`,
    {
      blame: 'user',
      hint: 'Choose a local model, or start a new session that is not private. Name a server of your own in network.private.',
    },
  );
}

/** Adds the privacy view and the views of the router to an agent. */
export const withPrivacyViews = (
  agent: ResolvedAgent,
  router: { readonly views: readonly NamedView<unknown>[] } | undefined,
): ResolvedAgent => ({
  ...agent,
  views: [...(agent.views ?? []), privacyView, ...(router?.views ?? [])],
});
