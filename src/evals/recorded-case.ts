// Runs a case that continues a recorded session: without a model up to its turn, then live or as recorded.
import { toRunResult, type AdvanceOptions, type RunResult } from '../agent/index.ts';
import { createRecordedResults, openBeforeTurn, withRecordedTools } from '../agent/recording/index.ts';
import {
  createRecordedProvider,
  type Event,
  type Provider,
  type ResolvedAgent,
  type UsageTotals,
} from '../core/index.ts';
import type { RecordedStart } from './dataset.ts';

/** What a run of a case returned, and its own events. */
export type CaseRun = { readonly run: RunResult; readonly events: readonly Event[]; readonly durationMs: number };

/** Returns the provider that a case continues with: that of the recording, or the given one. */
export const selectProvider = (provider: Provider, { at, mode }: RecordedStart, events: readonly Event[]): Provider =>
  mode === 'recorded' ? createRecordedProvider(events, { from: at }) : provider;

/** Continues a recording with an agent. What the recording used before its turn is not a cost of the trial. */
export async function continueRecording(
  agent: ResolvedAgent,
  { at, mode }: RecordedStart,
  recording: readonly Event[],
  options: Pick<AdvanceOptions, 'signal' | 'limits'>,
): Promise<CaseRun> {
  const results = mode === 'recorded' ? createRecordedResults(recording, at) : undefined;
  const own = results ? withRecordedTools(agent, results, () => 'fail') : agent;
  const { session, log, recorded } = await openBeforeTurn(own, recording, at, results);
  const { spent } = session.state;
  const since = performance.now();
  const state = await session.advance(undefined, options);
  const durationMs = performance.now() - since;
  const run = toRunResult({ ...state, spent: subtractUsage(state.spent, spent) }, { runId: '', sessionId: '' });
  return { run, events: log.events.slice(recorded), durationMs };
}

const subtractUsage = (after: UsageTotals, before: UsageTotals): UsageTotals => {
  const names = Object.keys(after) as (keyof UsageTotals)[];
  return { ...after, ...Object.fromEntries(names.map((name) => [name, Math.max(0, after[name] - before[name])])) };
};
