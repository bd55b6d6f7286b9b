// Applies the agent's renderers to a tool output: the first that returns text wins.
import type { ResolvedAgent, ToolOutput } from './ports.ts';
import type { ToolCall } from './state.ts';
import { escapeChatTokens } from './untrusted-text.ts';

/** Returns the text of an output for the model. A renderer that throws, or returns no text, leaves the tool's own text. */
export function renderToolOutput(
  agent: ResolvedAgent,
  { tool, input }: Pick<ToolCall, 'tool' | 'input'>,
  output: ToolOutput,
): string {
  return escapeForProvider(agent, renderWithRenderers(agent, { tool, input }, output) ?? output.text);
}

/** Escapes control tokens in untrusted text if the server of the provider could read them as such. */
export const escapeForProvider = ({ provider }: Pick<ResolvedAgent, 'provider'>, text: string): string =>
  provider.usesChatTemplate === true ? escapeChatTokens(text) : text;

function renderWithRenderers(
  agent: ResolvedAgent,
  { tool, input }: Pick<ToolCall, 'tool' | 'input'>,
  output: ToolOutput,
): string | undefined {
  for (const render of agent.renderers ?? []) {
    try {
      const text: unknown = render(output, { tool, input, model: agent.provider.model });
      if (typeof text === 'string') return text;
    } catch {
      // Falls back to the tool's own text.
    }
  }
  return undefined;
}
