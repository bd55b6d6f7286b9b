// Replays a recorded session without a model and without tools: the loop runs again on recorded answers, results and decisions.
import { openSessionWriter, runLoop, runStateView, type Event, type ResolvedAgent } from '../../core/index.ts';
import { visibleToolSpecs } from '../../agent/index.ts';
import type { ReplayDifference } from './difference.ts';
import { createRecordedAgent, type ReplayRules } from './recorded-agent.ts';
import { createRecordedLog } from './recorded-log.ts';
import { createRecording } from './recording.ts';

/** The parts of the agent of now that a replay compares with the recording. */
export type ReplayAgent = ReplayRules & Pick<ResolvedAgent, 'system' | 'tools'>;

/** Replays the events of a branch and returns each difference. Facts that differ do not add up: each turn starts as recorded. */
export async function replayRecorded(
  path: readonly Event[],
  agent?: ReplayAgent,
): Promise<readonly ReplayDifference[]> {
  const recording = createRecording(path);
  const log = createRecordedLog(
    recording,
    agent && { system: agent.system, tools: visibleToolSpecs(agent.tools), hasRules: true },
  );
  const replayed = createRecordedAgent(recording, log, agent);
  const writer = await openSessionWriter(log, runStateView(replayed.rules, replayed.views));
  const signal = new AbortController().signal;
  while (!log.ended.aborted) {
    await runLoop(replayed, { writer, signal, detachSignal: log.ended, onChunk: () => {}, clock: () => 0 });
    // The loop has nothing to do here, although the recording continues.
    if (!log.ended.aborted) await writer.record([log.skip()]);
  }
  return log.differences;
}
