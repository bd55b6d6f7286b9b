// How a tool's output is written down for the model: by the first renderer that has something to say about it.
import type { ResolvedAgent, ToolOutput } from './ports.ts';
import type { ToolCall } from './state.ts';

/** The text of an output for this agent's model. A renderer that fails, or gives no text, leaves the output as its tool wrote it. */
export function renderToolOutput(
  agent: ResolvedAgent,
  { tool, input }: Pick<ToolCall, 'tool' | 'input'>,
  given: ToolOutput,
): string {
  for (const render of agent.renderers ?? []) {
    try {
      const text: unknown = render(given, { tool, input, model: agent.provider.model });
      if (typeof text === 'string') return text;
    } catch {
      // The tool's own words are always there to fall back on.
    }
  }
  return given.text;
}
