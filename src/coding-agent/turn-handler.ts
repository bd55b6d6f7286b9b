// What a conversation does after each turn: saves the model for the next start, warns about the context, and lets the model write a title.
import { createContextWarnings } from './context-warnings.ts';
import { createModelSaver } from './conversation-models.ts';
import type { ConversationOptions, ConversationState } from './conversation-state.ts';

/** What happens after each turn. */
export type TurnHandler = {
  readonly onTurnEnded: (options: ConversationOptions, state: ConversationState) => void;
  /** Cancels a title that is being written. */
  readonly stop: () => void;
};

/** Creates what happens after each turn: the model is saved for the next start, warnings about the context are shown, and a new session gets a title if the model writes titles. */
export function createTurnHandler(): TurnHandler {
  const saveModel = createModelSaver();
  const warnOf = createContextWarnings();
  const stopped = new AbortController();
  const titled = new WeakSet<object>();
  const onTurnEnded: TurnHandler['onTurnEnded'] = (options, state) => {
    saveModel(options, state);
    const { open } = state;
    if (options.settings.sessionTitle === 'model' && open.session.state.calls.length === 0 && !titled.has(open)) {
      titled.add(open);
      void writeTitle(state, stopped.signal);
    }
    const { context } = state.open.session.state;
    const use = { ref: state.model.ref, used: context, window: state.parts.provider.contextWindow };
    for (const warning of warnOf(use)) options.host.notify(warning);
  };
  return { onTurnEnded, stop: () => stopped.abort() };
}

/** A title is not worth an error message: without one the session has its first message as its title. */
async function writeTitle(state: ConversationState, signal: AbortSignal): Promise<void> {
  try {
    const { titleByModel, wantsModelTitle } = await import('./session-title.ts');
    if (wantsModelTitle(state)) await titleByModel(state, signal);
  } catch {
    // The request failed, or the session was closed.
  }
}
