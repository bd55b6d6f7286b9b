// Runs the agent's checks on a finished answer.
import { raceAbort } from './abort.ts';
import { errorMessage } from './errors.ts';
import type { Fact, Verdict } from './fact.ts';
import { isObject } from './json.ts';
import type { RunContext } from './loop.ts';
import { isCheckNeeded } from './next-step.ts';
import type { ResolvedAgent, Check } from './ports.ts';
import type { RunState } from './state.ts';
import type { UnconfirmedClaim } from './unconfirmed-claims.ts';

/** Runs the checks in order until one does not pass. Statements that passing checks could not confirm are recorded with the end of all checks. */
export async function runChecks(agent: ResolvedAgent, { writer, signal, clock }: RunContext): Promise<void> {
  const unconfirmed: Fact[] = [];
  const startedAt = clock();
  for (const check of agent.checks) {
    if (!isCheckNeeded(check, writer.state)) continue;
    const checkStartedAt = clock();
    const verdict = await runCheck(check, writer.state, signal);
    const ended = (): Fact => ({ type: 'check-ended', check: check.name, verdict, ms: clock() - checkStartedAt });
    if (signal.aborted) return;
    if (verdict.type === 'passed') {
      if (verdict.claims || verdict.text !== undefined) unconfirmed.push(ended());
      continue;
    }
    // After a failure the model answers again, and that answer is checked from the start.
    const earlier = verdict.type === 'abstained' ? unconfirmed : [];
    await writer.record([...earlier, ended()], { durable: true });
    return;
  }
  const passed: Fact = { type: 'check-ended', check: 'all', verdict: { type: 'passed' }, ms: clock() - startedAt };
  await writer.record([...unconfirmed, passed]);
}

/** Validates a verdict: a check that throws, or returns no valid verdict, has failed. */
async function runCheck(check: Check, state: RunState, signal: AbortSignal): Promise<Verdict> {
  try {
    const result: unknown = await raceAbort(signal, () => check.run(state, signal));
    const { type, why, claims, text } = isObject(result) ? result : {};
    const found = Array.isArray(claims) ? claims.filter(isUnconfirmedClaim).slice(0, maxClaims) : [];
    const stated = found.length ? { claims: found } : {};
    const handedOn = typeof text === 'string' ? { text } : {};
    if (type === 'passed') return { type, ...stated, ...handedOn };
    const reason = typeof why === 'string' ? why : `The check ${check.name} gave no reason.`;
    if (type === 'failed') return { type, why: reason, ...stated };
    if (type === 'abstained') return { type, why: reason, ...handedOn };
    return { type: 'failed', why: `The check ${check.name} returned no verdict.` };
  } catch (error) {
    return { type: 'failed', why: `The check ${check.name} could not run: ${errorMessage(error)}` };
  }
}

/** Max statements of one verdict that are recorded. */
const maxClaims = 100;

const isUnconfirmedClaim = (claim: unknown): claim is UnconfirmedClaim =>
  isObject(claim) && typeof claim['text'] === 'string' && typeof claim['why'] === 'string';
