// Asks the user about agent files of a project, and formats the question so that it shows everything that a file says.
import { escapeInvisible, escapeInvisibleLine } from '../../core/index.ts';
import type { TrustStore } from '../../guards/index.ts';
import { toAgentApproval, toAgentRefusal } from './find-agent-files.ts';
import type { AgentFile } from './types.ts';

const maxPreviewLines = 12;
const maxPreviewChars = 400;

/** The agent files that the user has not decided about. */
export const listUndecided = (agents: readonly AgentFile[]): readonly AgentFile[] =>
  agents.filter(({ status }) => status === 'new' || status === 'changed');

/** Records the decision of the user about the text of agent files, and returns the files with their new status. */
export function decideAgentFiles(
  trust: Pick<TrustStore, 'approve' | 'revoke'>,
  agents: readonly AgentFile[],
  isTrusted: boolean,
): readonly AgentFile[] {
  for (const agent of agents) trust.revoke((isTrusted ? toAgentRefusal : toAgentApproval)(agent).subject);
  trust.approve(agents.map(isTrusted ? toAgentApproval : toAgentRefusal));
  return agents.map((agent) => ({ ...agent, status: isTrusted ? 'trusted' : 'refused' }));
}

/** The question about agent files of a project. */
export function formatAgentQuestion(agents: readonly AgentFile[]): string {
  const [first] = agents;
  const changed = agents.filter(({ status }) => status === 'changed').length;
  const since =
    changed === 0
      ? ''
      : changed === 1
        ? ' One of them changed since you trusted it.'
        : ` ${changed} of them changed since you trusted them.`;
  return agents.length === 1 && first
    ? `Trust this project's agent ${first.name}? A model can start it with these instructions.${changed > 0 ? ' It changed since you trusted it.' : ''}`
    : `Trust the ${agents.length} agents of this project? A model can start them with these instructions.${since}`;
}

/** What each file says: where it is, its tools, model and limits, and its instructions; at most so many lines of each, and only the beginning of long lines. With `Infinity`, everything. */
export function formatAgentDetails(agents: readonly AgentFile[], maxLines: number = maxPreviewLines): string {
  return agents.map((agent) => formatOne(agent, maxLines)).join('\n\n');
}

function formatOne(agent: AgentFile, maxLines: number): string {
  const lines = escapeInvisible(agent.instructions).split('\n');
  const hidden = lines.length - maxLines;
  const truncate = (line: string): string =>
    line.length > maxPreviewChars && maxLines !== Infinity
      ? `${line.slice(0, maxPreviewChars)}… (${line.length - maxPreviewChars} more characters; "fairlead trust" shows the whole text)`
      : line;
  return [
    `${agent.name} (${escapeInvisibleLine(agent.file)})`,
    `  ${truncate(escapeInvisibleLine(agent.description))}`,
    `  ${formatAgentAuthority(agent)}`,
    ...lines.slice(0, maxLines).map((line) => `  | ${truncate(line)}`),
    ...(hidden > 0 ? [`  | (${hidden} more lines; "fairlead trust" shows the whole text)`] : []),
  ].join('\n');
}

/** The tools, the model and the limits of an agent, in one line. */
export function formatAgentAuthority(agent: AgentFile): string {
  const { tools, disallowedTools = [], model, limits = {}, readOnly, isolation } = agent;
  const bounds = Object.entries(limits).map(([name, value]) => (name === 'usd' ? `$${value}` : `${value} ${name}`));
  const list = (names: readonly string[]): string => names.map((name) => escapeInvisibleLine(name)).join(', ');
  return [
    `tools: ${tools === undefined ? 'those of its parent' : list(tools) || 'none'}${disallowedTools.length > 0 ? ` without ${list(disallowedTools)}` : ''}`,
    `model: ${model === undefined ? 'that of its parent' : escapeInvisibleLine(model)}`,
    ...(bounds.length > 0 ? [`at most ${bounds.join(', ')}`] : []),
    ...(readOnly ? ['changes nothing'] : []),
    ...(isolation ? ['in a git worktree'] : []),
  ].join('; ');
}
