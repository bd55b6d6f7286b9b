// Begins or resumes the scripted session on a log, and runs it until there is nothing to do.
import { openHead, run, runView, type Log, type Request, type RunState } from '../../src/core/index.ts';
import { agentOf, beginning } from './agent.ts';

/** Goes on with a session wherever it stands. */
export async function resume(log: Log, ledger: string, seen?: (request: Request) => void): Promise<RunState> {
  const head = await openHead(log, runView());
  const begun = head.state.run !== undefined || head.state.ended !== undefined;
  if (!begun) await head.record(beginning.slice(head.state.seq));
  return run(agentOf(ledger, seen), {
    head,
    signal: new AbortController().signal,
    live: () => {},
    clock: () => performance.now(),
  });
}
