// Runs the agent's checks on a finished answer.
import { raceAbort } from './abort.ts';
import { errorMessage } from './errors.ts';
import type { Verdict } from './fact.ts';
import { isObject } from './json.ts';
import type { RunContext } from './loop.ts';
import type { ResolvedAgent, Check } from './ports.ts';
import type { RunState } from './state.ts';

/** Runs the checks in order until one does not pass. */
export async function runChecks(agent: ResolvedAgent, { writer, signal }: RunContext): Promise<void> {
  for (const check of agent.checks) {
    const verdict = await runCheck(check, writer.state, signal);
    if (signal.aborted) return;
    if (verdict.type === 'passed') continue;
    await writer.record([{ type: 'check-ended', check: check.name, verdict }], { durable: true });
    return;
  }
  await writer.record([{ type: 'check-ended', check: 'all', verdict: { type: 'passed' } }]);
}

/** Validates a verdict: a check that throws, or returns no valid verdict, has failed. */
async function runCheck(check: Check, state: RunState, signal: AbortSignal): Promise<Verdict> {
  try {
    const result: unknown = await raceAbort(signal, () => check.run(state, signal));
    const { type, why } = isObject(result) ? result : {};
    if (type === 'passed') return { type };
    const reason = typeof why === 'string' ? why : `The check ${check.name} gave no reason.`;
    if (type === 'failed' || type === 'abstained') return { type, why: reason };
    return { type: 'failed', why: `The check ${check.name} returned no verdict.` };
  } catch (error) {
    return { type: 'failed', why: `The check ${check.name} could not run: ${errorMessage(error)}` };
  }
}
