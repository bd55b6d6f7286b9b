// What a session keeps to the person's own machines: a label that is written down once and never taken back, and the rule that follows from it.
import type { Session } from '../agent/index.ts';
import { FairleadError, readView, type ResolvedAgent, type NamedView } from '../core/index.ts';
import { findFamily } from '../providers/families.ts';
import type { Settings } from './settings/index.ts';
import type { ResolvedModel } from './models/resolve-model.ts';

const privacyKey = 'privacy/labelled';

/** Whether anything in this session is private: what was said under the label is still there when it is gone. */
export const privacyView: NamedView<boolean> = {
  name: 'privacy',
  initial: false,
  on: (labelled, event) => labelled || (event.type === 'annotation-added' && event.key === privacyKey),
  serialize: (labelled) => labelled,
  restore: (kept) => kept === true,
};

/** Whether the session is private. */
export const isPrivateSession = ({ state }: Pick<Session, 'state'>): boolean => readView(state, privacyView);

/** A line of its own in AGENTS.md that asks for privacy. Nothing there can lift it. */
const privateLine = /^\s*private:\s*(true|yes)\s*$/im;

/** Who labelled what is said here as private, in words; nothing if nobody did. */
export function findPrivacyLabel(
  asked: { readonly private: boolean },
  settings: Pick<Settings, 'private'>,
  instructions: { readonly text: string },
): string | undefined {
  if (asked.private) return '--private';
  if (settings.private) return 'the setting "private"';
  return privateLine.test(instructions.text) ? 'AGENTS.md' : undefined;
}

/** Writes the label down, once. */
export async function markPrivate(session: Session, by: string | undefined): Promise<void> {
  if (by !== undefined && !isPrivateSession(session)) await session.annotate(privacyKey, { by });
}

/** Whether nothing that this model is told leaves the person's machines. */
export async function isLocalModel(
  { ref, isDeclaredLocal }: ResolvedModel,
  { env, privateHosts }: Settings,
): Promise<boolean> {
  if (isDeclaredLocal !== undefined) return isDeclaredLocal;
  if (!findFamily(ref.provider)) return ref.provider === 'scripted' || ref.provider === 'replay';
  const { keepsDataLocal } = await import('../providers/routing/model-priors.ts');
  return keepsDataLocal(ref, env, privateHosts);
}

/** Throws where a private session would be told to somebody else. */
export async function assertLocalModel(chosen: ResolvedModel, settings: Settings): Promise<void> {
  if (await isLocalModel(chosen, settings)) return;
  throw new FairleadError(
    'routing/private',
    `This session is private, and ${chosen.name} is not on your own machines.`,
    {
      blame: 'user',
      hint: 'Choose a local model, or begin another session without the label. A server of yours elsewhere is named in network.private.',
    },
  );
}

/** The agent with the views that tell whether its session is private, and how its router's models did. */
export const withPrivacyViews = (
  parts: ResolvedAgent,
  router: { readonly views: readonly NamedView<unknown>[] } | undefined,
): ResolvedAgent => ({
  ...parts,
  views: [...(parts.views ?? []), privacyView, ...(router?.views ?? [])],
});
