// Applies the agent's renderers to a tool output: the first that returns text wins.
import type { ResolvedAgent, ToolOutput } from './ports.ts';
import type { ToolCall } from './state.ts';

/** Returns the text of an output for the model. A renderer that throws, or returns no text, leaves the tool's own text. */
export function renderToolOutput(
  agent: ResolvedAgent,
  { tool, input }: Pick<ToolCall, 'tool' | 'input'>,
  output: ToolOutput,
): string {
  for (const render of agent.renderers ?? []) {
    try {
      const text: unknown = render(output, { tool, input, model: agent.provider.model });
      if (typeof text === 'string') return text;
    } catch {
      // Falls back to the tool's own text.
    }
  }
  return output.text;
}
