// Renders the request of a turn again from the log: the instructions, tools and messages that the model got.
import {
  FairleadError,
  renderRequest,
  runStateView,
  toArray,
  type Event,
  type Message,
  type ModelRequest,
  type ToolSpec,
} from '../../core/index.ts';
import { getBranchPath } from './branch-path.ts';

/** The request of one turn. Sampling settings of the provider are not part of the log, so they are not part of it. */
export type TurnRequest = {
  readonly turn: number;
  readonly model: string;
  readonly time: string;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly Message[];
  readonly toolChoice: ModelRequest['toolChoice'];
};

/** Returns the request of a turn on the current branch; of a turn that was repeated, the last one. Throws `session/no-turn` if there is none. */
export function renderTurnRequest(events: readonly Event[], turn: number): TurnRequest {
  const view = runStateView();
  let state = view.initial;
  let found: TurnRequest | undefined;
  for (const event of getBranchPath(events)) {
    state = view.on(state, event);
    if (event.type !== 'turn-started' || event.turn !== turn) continue;
    const { system, tools, messages, toolChoice } = renderRequest(state, { settings: {} });
    found = { turn, model: state.model, time: event.time, system, tools, messages: toArray(messages), toolChoice };
  }
  if (found) return found;
  throw new FairleadError('session/no-turn', `The session has no turn ${turn}.`, {
    blame: 'user',
    hint: state.turn > 0 ? `It has turns 1 to ${state.turn}.` : 'It has no turns yet.',
  });
}
