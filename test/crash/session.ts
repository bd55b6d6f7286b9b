// Begins or resumes the scripted session on a log, and runs it until there is nothing left to do.
import {
  openSessionWriter,
  runLoop,
  runStateView,
  type Log,
  type ModelRequest,
  type RunState,
} from '../../src/core/index.ts';
import { createScriptedAgent, scriptedStartFacts } from './agent.ts';

/** Continues a session from its current state. */
export async function resumeScriptedSession(
  log: Log,
  ledger: string,
  seen?: (request: ModelRequest) => void,
): Promise<RunState> {
  const head = await openSessionWriter(log, runStateView());
  const begun = head.state.run !== undefined || head.state.ended !== undefined;
  if (!begun) await head.record(scriptedStartFacts.slice(head.state.seq));
  return runLoop(createScriptedAgent(ledger, seen), {
    writer: head,
    signal: new AbortController().signal,
    onChunk: () => {},
    clock: () => performance.now(),
  });
}
