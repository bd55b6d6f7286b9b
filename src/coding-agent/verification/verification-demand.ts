// Records in a log that the answers of its session are verified, so that a run that was interrupted is verified when it is resumed.
import type { Session } from '../../agent/index.ts';
import {
  parseVerificationDemand,
  readView,
  verificationDemandKey,
  type NamedView,
  type RunState,
} from '../../core/index.ts';

/** Whether the answers of the session are verified, as it was last recorded. */
export const demandView: NamedView<boolean> = {
  name: verificationDemandKey,
  initial: false,
  on: (isDemanded, event) => parseVerificationDemand(event) ?? isDemanded,
  serialize: (isDemanded) => isDemanded,
  restore: (saved) => saved === true,
};

const hasView = ({ viewStates }: RunState): boolean =>
  viewStates.views.some(({ name }) => name === verificationDemandKey);

/** Whether the log says that the answers of this session are verified. */
export const isVerificationDemanded = (state: RunState): boolean => hasView(state) && readView(state, demandView);

/** Records whether answers are verified, if the agent can. A run that was interrupted keeps what it was started with. */
export async function recordVerificationDemand(session: Session, isWanted: boolean): Promise<void> {
  const { state } = session;
  const isDemanded = isVerificationDemanded(state);
  if (!hasView(state) || isWanted === isDemanded || (isDemanded && state.run !== undefined)) return;
  await session.annotate(verificationDemandKey, isWanted);
}
