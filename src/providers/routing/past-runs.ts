// How runs came out, folded from a log: which model, on what kind of task, whether it ended well, and how long its turns took.
import {
  isObject,
  messageText,
  type Event,
  type Failure,
  type NamedView,
  type RunState,
  type StopReason,
} from '../../core/index.ts';
import { chosenKey, failedKey } from './keys.ts';
import type { Kind } from './lexicon.ts';
import { taskFeatures } from './task.ts';

/** One run of the past. */
export type Ran = {
  /** As the log names it, and as the router named it where it was routed. */
  readonly model: string;
  readonly name?: string;
  readonly kind: Kind;
  readonly ended: 'well' | 'badly' | 'unreachable';
  /** When it ended, in milliseconds since 1970. */
  readonly time: number;
  readonly turns: number;
  readonly ms: number;
};

/** What a session tells of its runs. */
export type PastRuns = {
  readonly runs: readonly Ran[];
  readonly now: { readonly model: string; readonly name?: string; readonly kind: Kind };
  readonly turns: number;
  readonly ms: number;
};

/** The latest runs of a session that are kept. */
const mostRuns = 64;

/** Ended by the person, or by a bound that says nothing about the model. */
const untold: ReadonlySet<StopReason> = new Set([
  'cancelled',
  'kill-switch',
  'time',
  'token-budget',
  'money-budget',
  'call-budget',
  'rule',
]);

/** The runs of a session. */
export const pastRuns: NamedView<PastRuns> = {
  name: 'routing',
  initial: { runs: [], now: { model: '', kind: 'other' }, turns: 0, ms: 0 },
  on(state, event) {
    if (event.type === 'epoch-started')
      return event.model === state.now.model
        ? state
        : { ...state, now: { model: event.model, kind: state.now.kind }, turns: 0, ms: 0 };
    if (event.type === 'annotation-added') return remarked(state, event);
    if (event.type === 'input-received' && event.how === 'prompt') {
      const { kind } = taskFeatures(messageText({ role: 'user', parts: event.parts }));
      return { ...state, now: { ...state.now, kind } };
    }
    if (event.type === 'turn-ended' || event.type === 'turn-failed')
      return { ...state, turns: state.turns + 1, ms: state.ms + event.ms };
    return event.type === 'run-ended' ? ended(state, event) : state;
  },
  serialize: (state) => state,
  restore: (kept) =>
    isObject(kept) && Array.isArray(kept['runs']) && isObject(kept['now']) ? (kept as unknown as PastRuns) : undefined,
};

/** Why the model gave no answer, where another one may: not where the request itself is refused, nor where tools failed. */
export function outageIn(ended: RunState['ended']): Failure | undefined {
  const { reason, error } = ended ?? {};
  const isModels = reason === 'provider-error' || reason === 'error-threshold';
  return isModels && error && error.code !== refused ? error : undefined;
}

const refused = 'provider/bad-request';

/** Who could not be opened never ran; it failed all the same. */
function remarked(state: PastRuns, { key, value, time }: Event & { type: 'annotation-added' }): PastRuns {
  if (!isObject(value) || typeof value['model'] !== 'string') return state;
  const name = value['model'];
  if (key === chosenKey) return { ...state, now: { ...state.now, name } };
  if (key !== failedKey || value['opened'] !== false) return state;
  const { kind } = state.now;
  const ran: Ran = { model: '', name, kind, ended: 'unreachable', time: Date.parse(time), turns: 0, ms: 0 };
  return { ...state, runs: [...state.runs, ran].slice(-mostRuns) };
}

function ended(state: PastRuns, event: Event & { type: 'run-ended' }): PastRuns {
  const { now, turns, ms } = state;
  const rest = { ...state, turns: 0, ms: 0 };
  if (untold.has(event.reason) || event.error?.code === refused) return rest;
  const well = event.reason === 'answered' || event.reason === 'task-complete';
  const how = well ? 'well' : outageIn(event) ? 'unreachable' : 'badly';
  const ran: Ran = { ...now, ended: how, time: Date.parse(event.time), turns, ms };
  return { ...rest, runs: [...state.runs, ran].slice(-mostRuns) };
}
