// Applies an agent file to what a model asked for: the file narrows the request, and the request narrows the file.
import { FairleadError } from '../../core/index.ts';
import type { AgentFile } from '../agent-files/types.ts';
import type { AgentFileSpec, SubagentSpec } from './metadata.ts';

/** The part of an agent file that a sub-agent is started with. */
export type StartableAgent = Pick<
  AgentFile,
  | 'name'
  | 'description'
  | 'instructions'
  | 'tools'
  | 'disallowedTools'
  | 'model'
  | 'limits'
  | 'readOnly'
  | 'background'
  | 'isolation'
  | 'disabled'
  | 'hash'
  | 'status'
>;

/** The spec with what the named agent file says. Throws if there is no such agent, or if it cannot be started. */
export function applyAgentFile(spec: SubagentSpec, agents: readonly StartableAgent[]): SubagentSpec & AgentFileSpec {
  if (spec.agent === undefined) return spec;
  const file = agents.find(({ name }) => name === spec.agent);
  if (!file) throw unknownAgentError(spec.agent, agents);
  assertStartable(file);
  const { model = spec.model, background = spec.background, limits } = file;
  return {
    ...spec,
    role: [file.instructions, spec.role].filter(Boolean).join('\n\n'),
    ...(model === undefined ? {} : { model }),
    ...(background === undefined ? {} : { background }),
    ...(limits ? { limits } : {}),
    ...(file.tools ? { file_tools: file.tools } : {}),
    ...(file.disallowedTools ? { disallowed_tools: file.disallowedTools } : {}),
    ...(file.readOnly ? { read_only: true } : {}),
    file_hash: file.hash,
  };
}

/** Throws if the user no longer trusts the text of the file that a sub-agent was started with. */
export function assertFileTrusted(
  { agent, file_hash: hash }: Pick<SubagentSpec & AgentFileSpec, 'agent' | 'file_hash'>,
  agents: readonly StartableAgent[],
): void {
  if (agent === undefined) return;
  if (agents.some((each) => each.name === agent && each.hash === hash && each.status === 'trusted')) return;
  throw new FairleadError('agent/not-trusted', `The file of the agent ${agent} was changed, removed or revoked.`, {
    blame: 'user',
    hint: 'Start another agent for the task.',
  });
}

function assertStartable({ name, status, disabled, isolation }: StartableAgent): void {
  if (status !== 'trusted')
    throw new FairleadError('agent/not-trusted', `The user has not trusted the agent ${name}.`, {
      blame: 'user',
      hint: 'The user can with "fairlead trust". Do the task without this agent.',
    });
  if (disabled !== undefined)
    throw new FairleadError('agent/disabled', `The agent ${name} cannot be started: ${disabled}.`, { blame: 'model' });
  // Without the worktree the agent would change the files of its parent, which its file excludes.
  if (isolation === 'worktree')
    throw new FairleadError(
      'agent/no-worktree',
      `The agent ${name} works in a git worktree of its own (isolation: worktree), which is not available here.`,
      { blame: 'user', hint: 'Remove "isolation" from its file, or do the task without this agent.' },
    );
}

function unknownAgentError(name: string, agents: readonly StartableAgent[]): FairleadError {
  const names = agents.filter(({ status }) => status === 'trusted').map((each) => each.name);
  return new FairleadError('agent/unknown-name', `There is no agent ${JSON.stringify(name.slice(0, 80))}.`, {
    blame: 'model',
    hint: names.length > 0 ? `There are: ${names.join(', ')}.` : 'There are none; omit "agent".',
  });
}
