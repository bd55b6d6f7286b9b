// The port of tree search to what it changes: a workspace that can be forked and rolled back, and that names the effects it can roll back. Reads the actions that are proposed for it.
import { errorMessage, type Json } from '../../../core/index.ts';

/** An action, or one sentence about why it is refused. */
export type ParsedAction<Action> = { readonly action: Action } | { readonly problem: string };

/** A workspace in one state. A fork is independent: what is done in it changes neither its parent nor another fork. */
export interface ForkableWorkspace<Action extends Json = Json> {
  /** What an action may change. Everything else is refused, because it could not be rolled back. */
  readonly effects: readonly string[];
  /** Copies the present state. */
  fork(signal: AbortSignal): Promise<ForkableWorkspace<Action>>;
  /** Makes the present state the one that `rollback` returns to. */
  checkpoint(signal: AbortSignal): Promise<void>;
  /** Returns to the checkpoint; without one, to the state in which this workspace was opened or forked. */
  rollback(signal: AbortSignal): Promise<void>;
  /** Reads an action that a model proposed, or says why it is none or why its effect is refused. Changes nothing. */
  parse(proposed: unknown): ParsedAction<Action>;
  /** Carries out an action; returns what a model should know about its result. Rejects if it cannot be carried out. */
  apply(action: Action, signal: AbortSignal): Promise<string>;
  /** Describes the state for a model. */
  describe(signal: AbortSignal): Promise<string>;
  /** Equal for equal states, so that no state is searched twice. */
  fingerprint(signal: AbortSignal): Promise<string>;
  /** Releases the fork. The workspace that the caller opened is never discarded by a search. */
  discard(): Promise<void>;
}

/** Reads a proposal. An action that cannot be written as JSON, such as one that is nested too deeply, is refused. */
export function parseAction<Action extends Json>(
  workspace: ForkableWorkspace<Action>,
  proposed: unknown,
): ParsedAction<Action> {
  try {
    const parsed = workspace.parse(proposed);
    if ('action' in parsed) JSON.stringify(parsed.action);
    return parsed;
  } catch (error) {
    return { problem: `It cannot be read: ${errorMessage(error).slice(0, 200)}` };
  }
}
