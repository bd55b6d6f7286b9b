// View of past runs: model, kind of task, success and latency.
import {
  isObject,
  messageText,
  type Event,
  type Failure,
  type NamedView,
  type RunState,
  type StopReason,
} from '../../core/index.ts';
import { modelChosenKey, modelFailedKey } from './annotation-keys.ts';
import type { TaskKind } from './keyword-weights.ts';
import { taskFeatures } from './task-features.ts';

/** A past run. */
export type PastRun = {
  /** The model name in the log, and the router's name if it was routed. */
  readonly model: string;
  readonly name?: string;
  readonly kind: TaskKind;
  readonly ended: 'well' | 'badly' | 'unreachable';
  /** End time in milliseconds since 1970. */
  readonly time: number;
  readonly turns: number;
  readonly ms: number;
};

/** The view of the runs of a session. */
export type RunHistory = {
  readonly runs: readonly PastRun[];
  readonly now: { readonly model: string; readonly name?: string; readonly kind: TaskKind };
  readonly turns: number;
  readonly ms: number;
};

/** Max runs kept per session. */
const maxRuns = 64;

/** Ended by the user or by a limit, which says nothing about the model. */
const neutralStopReasons: ReadonlySet<StopReason> = new Set([
  'cancelled',
  'kill-switch',
  'time',
  'token-budget',
  'money-budget',
  'call-budget',
  'rule',
]);

/** The runs of a session. */
export const runHistoryView: NamedView<RunHistory> = {
  name: 'routing',
  initial: { runs: [], now: { model: '', kind: 'other' }, turns: 0, ms: 0 },
  on(state, event) {
    if (event.type === 'epoch-started')
      return event.model === state.now.model
        ? state
        : { ...state, now: { model: event.model, kind: state.now.kind }, turns: 0, ms: 0 };
    if (event.type === 'annotation-added') return applyRemark(state, event);
    if (event.type === 'input-received' && event.how === 'prompt') {
      const { kind } = taskFeatures(messageText({ role: 'user', parts: event.parts }));
      return { ...state, now: { ...state.now, kind } };
    }
    if (event.type === 'turn-ended' || event.type === 'turn-failed')
      return { ...state, turns: state.turns + 1, ms: state.ms + event.ms };
    return event.type === 'run-ended' ? applyRunEnded(state, event) : state;
  },
  serialize: (state) => state,
  restore: (stored) =>
    isObject(stored) && Array.isArray(stored['runs']) && isObject(stored['now'])
      ? (stored as unknown as RunHistory)
      : undefined,
};

/** Returns why the model failed, if another model could succeed. */
export function findModelOutage(ended: RunState['ended']): Failure | undefined {
  const { reason, error } = ended ?? {};
  const isModels = reason === 'provider-error' || reason === 'error-threshold';
  return isModels && error && error.code !== badRequestCode ? error : undefined;
}

const badRequestCode = 'provider/bad-request';

/** A model that could not be opened counts as failed. */
function applyRemark(state: RunHistory, { key, value, time }: Event & { type: 'annotation-added' }): RunHistory {
  if (!isObject(value) || typeof value['model'] !== 'string') return state;
  const name = value['model'];
  if (key === modelChosenKey) return { ...state, now: { ...state.now, name } };
  if (key !== modelFailedKey || value['opened'] !== false) return state;
  const { kind } = state.now;
  const run: PastRun = { model: '', name, kind, ended: 'unreachable', time: Date.parse(time), turns: 0, ms: 0 };
  return { ...state, runs: [...state.runs, run].slice(-maxRuns) };
}

function applyRunEnded(state: RunHistory, event: Event & { type: 'run-ended' }): RunHistory {
  const { now, turns, ms } = state;
  const rest = { ...state, turns: 0, ms: 0 };
  if (neutralStopReasons.has(event.reason) || event.error?.code === badRequestCode) return rest;
  const well = event.reason === 'answered' || event.reason === 'task-complete';
  const outcome = well ? 'well' : findModelOutage(event) ? 'unreachable' : 'badly';
  const run: PastRun = { ...now, ended: outcome, time: Date.parse(event.time), turns, ms };
  return { ...rest, runs: [...state.runs, run].slice(-maxRuns) };
}
