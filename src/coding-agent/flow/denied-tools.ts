// Finds the tools that the policy files of the user and of the project deny whatever their input is.
import { evaluatePolicy } from '../../guards/index.ts';
import { createPolicyContext, readAgentPolicy } from '../gates.ts';
import type { Settings } from '../settings/index.ts';

/** Returns those of these tools that a rule denies by name alone. A tool of a server that was not started is named `server: tool`. */
export async function findDeniedTools(
  { dirs }: Pick<Settings, 'dirs'>,
  cwd: string,
  tools: readonly string[],
): Promise<readonly string[]> {
  const policy = await readAgentPolicy({ config: dirs.config, cwd });
  const rules = policy?.rules.filter(({ effect, on }) => effect === 'deny' && Object.keys(on).join() === 'tool') ?? [];
  if (rules.length === 0) return [];
  const context = createPolicyContext({ cwd, locate: (file) => file });
  const denied: string[] = [];
  for (const tool of tools) {
    const call = { tool: tool.replace(/^([^:]+): (.+)$/, 'mcp__$1__$2'), input: {} };
    if ((await evaluatePolicy({ rules }, call, context)).effect === 'deny') denied.push(tool);
  }
  return denied;
}
