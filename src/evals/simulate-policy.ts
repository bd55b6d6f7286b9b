// Simulates a policy on a recorded session: the decision it would have made about each call.
import { statSync } from 'node:fs';
import { messageToolCalls, type Json, type RunState, type Workspace } from '../core/index.ts';
import { evaluatePolicy, type Policy } from '../guards/index.ts';
import { resolveToolAlias, codingTools } from '../tools/index.ts';
import { localWorkspace } from '../workspace/index.ts';
import type { SessionContents } from '../sessions/index.ts';
import { createPolicyContext } from '../coding-agent/index.ts';

/** The simulated decision about a call. */
export type SimulatedDecision = {
  readonly tool: string;
  readonly input: Json;
  readonly outcome: 'allowed' | 'asked' | 'denied';
  readonly why: readonly string[];
};

/** Returns the working directory of a session if it still exists; otherwise the current directory. */
export function getSessionDirectory({ cwd: folder }: Pick<RunState, 'cwd'>): string {
  return folder !== undefined && statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? folder : process.cwd();
}

/** Returns the decision of the policy about every call of a session, in order. Runs nothing. */
export async function simulatePolicy(
  policy: Policy,
  { messages, state }: SessionContents,
): Promise<readonly SimulatedDecision[]> {
  const folder = getSessionDirectory(state);
  const workspace: Workspace = localWorkspace({ roots: [folder], cwd: folder });
  const ground = createPolicyContext(workspace);
  const reads = new Set(codingTools(workspace).flatMap(({ name, effect }) => (effect === 'read' ? name : [])));
  return Promise.all(
    messages.flatMap(messageToolCalls).map(async ({ tool: given, input }): Promise<SimulatedDecision> => {
      const tool = resolveToolAlias({ tool: given, input }) ?? given;
      const { effect, why } = await evaluatePolicy(policy, { tool, input }, ground);
      return { tool, input, why, outcome: outcomes[effect === 'unmatched' && reads.has(tool) ? 'allow' : effect] };
    }),
  );
}

/** A call that no rule matches needs an approval. */
const outcomes = { allow: 'allowed', ask: 'asked', deny: 'denied', unmatched: 'asked' } as const;
