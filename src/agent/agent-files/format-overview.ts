// Formats the agents of a session for the user: the agent files with their source and trust, and the sub-agents with status, turns and cost.
import { escapeInvisibleLine, pendingApprovals, type SubagentCaps } from '../../core/index.ts';
import { selectsTool } from '../../tools/index.ts';
import { formatSubagentCaps, sumSubagentUse } from '../subagents/caps.ts';
import { formatSubagentName, subagentStatus, truncateToLine } from '../subagents/format.ts';
import type { SubagentInfo } from '../subagents/metadata.ts';
import { formatAgentAuthority } from './trust-agent-files.ts';
import type { AgentFile } from './types.ts';

/** What the overview is made from. */
export type AgentOverview = {
  readonly files: readonly AgentFile[];
  readonly subagents: readonly SubagentInfo[];
  readonly caps: SubagentCaps;
  /** The names of the tools of the session, which a file can name; without them nothing is said about missing tools. */
  readonly tools?: Iterable<string>;
};

/** The overview in lines: the sub-agents that need the user first. */
export function formatAgentOverview({ files, subagents, caps, tools }: AgentOverview): string {
  const names = tools === undefined ? undefined : [...tools];
  const ordered = subagents.toSorted((a, b) => rank(a) - rank(b));
  return [
    'Agent files',
    ...(files.length > 0 ? files.map((file) => formatAgentFile(file, names)) : ['  none: .fairlead/agents/<name>.md']),
    '',
    'Agents of this session',
    ...(ordered.length > 0 ? ordered.map(formatSubagentEntry) : ['  none']),
    '',
    formatSubagentCaps(caps, sumSubagentUse(subagents)),
  ].join('\n');
}

const needsInput = ({ state }: SubagentInfo): boolean => pendingApprovals(state).length > 0;

const rank = (subagent: SubagentInfo): number => (needsInput(subagent) ? 0 : subagent.running === false ? 2 : 1);

const trustLabels: Readonly<Record<AgentFile['status'], string>> = {
  trusted: 'trusted',
  new: 'not trusted: "fairlead trust"',
  changed: 'changed since it was trusted: "fairlead trust"',
  refused: 'refused: "fairlead trust" asks again',
};

/** One agent file: its name, source and trust, what it may do, and what of it is not used. */
function formatAgentFile(file: AgentFile, tools?: readonly string[]): string {
  const missing = (file.tools ?? []).filter((name) => !(tools ?? [name]).some((tool) => selectsTool(name, tool)));
  return [
    `  ${file.name} · ${file.scope === 'personal' ? 'yours' : 'of the project'} · ${file.disabled ?? trustLabels[file.status]}`,
    `    ${formatAgentAuthority(file)}`,
    ...(missing.length > 0 ? [`    not here: ${missing.map((name) => escapeInvisibleLine(name)).join(', ')}`] : []),
    ...file.notes.map((note) => `    ${note}`),
    `    ${escapeInvisibleLine(file.file)}`,
  ].join('\n');
}

/** One sub-agent: its status, its turns, calls and cost, its task, and the question that it waits for. */
function formatSubagentEntry(subagent: SubagentInfo): string {
  const { turns, calls, usd, turnsWithoutPrice } = subagent.state.total;
  const cost = turnsWithoutPrice > 0 ? 'unknown cost' : `$${usd.toFixed(4)}`;
  const questions = pendingApprovals(subagent.state).map(({ question }) => question);
  const mark = questions.length > 0 ? '!' : subagent.running === false ? ' ' : '●';
  const status = questions.length > 0 ? 'needs input' : subagentStatus(subagent);
  return [
    `${mark} ${formatSubagentName(subagent)} · ${status} · ${turns} turns, ${calls} calls, ${cost} · ${escapeInvisibleLine(subagent.state.model)}`,
    `    ${truncateToLine(subagent.metadata.task, 100)}`,
    ...questions.map((question) => `    asks: ${truncateToLine(question, 100)}`),
  ].join('\n');
}
