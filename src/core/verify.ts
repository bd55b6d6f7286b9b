// Checks of a finished answer: a run is not done because the model says so.
import { unlessAborted } from './abort.ts';
import type { Verdict } from './fact.ts';
import type { RunContext } from './loop.ts';
import type { AgentParts } from './ports.ts';

/** Runs every check until one is not passed; a check that throws has failed. */
export async function runChecks(agent: AgentParts, { head, signal }: RunContext): Promise<void> {
  for (const check of agent.checks) {
    const broken = (error: unknown): Verdict => ({
      type: 'failed',
      why: `The check ${check.name} could not run: ${String(error)}`,
    });
    const verdict = await unlessAborted(signal, () => check.run(head.state, signal)).catch(broken);
    if (signal.aborted) return;
    if (verdict.type === 'passed') continue;
    await head.record([{ type: 'checks-ended', check: check.name, verdict }], { settle: true });
    return;
  }
  await head.record([{ type: 'checks-ended', check: 'all', verdict: { type: 'passed' } }]);
}
