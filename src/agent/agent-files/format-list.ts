// The list of agents for the system prompt of a model.
import { wrapUntrusted } from '../../core/index.ts';
import type { AgentFile } from './types.ts';

const maxListChars = 6_000;

/** The agents that a model can start: those that are trusted and not disabled. */
export const listUsableAgents = (agents: readonly AgentFile[]): readonly AgentFile[] =>
  agents.filter(({ status, disabled }) => status === 'trusted' && disabled === undefined);

/** The list of agents for the model: names and descriptions, shortened evenly if there are many; empty without agents. */
export function formatAgentList(agents: readonly AgentFile[]): string {
  const usable = listUsableAgents(agents);
  if (usable.length === 0) return '';
  const isShort =
    usable.reduce((sum, { name, description }) => sum + name.length + description.length + 5, 0) <= maxListChars;
  const share = isShort ? Infinity : Math.max(0, Math.floor(maxListChars / usable.length) - 24);
  const lines = (scope: AgentFile['scope']): readonly string[] =>
    usable.filter((each) => each.scope === scope).map((each) => formatLine(each, share));
  const project = lines('project');
  return [
    'Agents that spawn_agent can start by name, with "agent". Use one when its description fits the task.',
    ...lines('personal'),
    ...(project.length > 0 ? [wrapUntrusted('the agents of this project', project.join('\n'))] : []),
  ].join('\n');
}

function formatLine({ name, description }: AgentFile, maxChars: number): string {
  const text = description.replaceAll(/\s+/g, ' ');
  if (maxChars < 8) return `- ${name}`;
  return `- ${name}: ${text.length > maxChars ? `${text.slice(0, maxChars - 1)}…` : text}`;
}
