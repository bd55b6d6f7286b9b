// What every tool that runs a command shares: what it is told, and how it waits for the end.
import type { JsonObject, ToolOutput, ToolContext, Workspace } from '../../core/index.ts';
import { maxShownChars, commandResultOutput } from './format-result.ts';

/** Seconds that a command may take: what is usual, and the most that can be asked for. */
export type TimeoutRange = { readonly defaultSeconds: number; readonly maxSeconds: number };

/** What a call of such a tool holds. */
export type CommandInput = { readonly command: string; readonly timeout_s?: number; readonly background?: boolean };

/** The schema of its input, with whatever else a tool takes. */
export const commandInputSchema = (
  { defaultSeconds, maxSeconds }: TimeoutRange,
  more: JsonObject = {},
): JsonObject => ({
  type: 'object',
  properties: {
    command: { type: 'string' },
    timeout_s: { type: 'integer', minimum: 1, maximum: maxSeconds, description: `${defaultSeconds} unless given.` },
    ...more,
  },
  required: ['command'],
  additionalProperties: false,
});

/** Runs a command to its end and shows what it writes while it writes it. */
export async function runCommandToEnd(
  workspace: Pick<Workspace, 'exec'>,
  { command, timeout_s: seconds }: CommandInput,
  { defaultSeconds }: TimeoutRange,
  { signal, progress }: Pick<ToolContext, 'signal' | 'progress'>,
): Promise<ToolOutput> {
  const ran = await workspace.exec(command, {
    signal,
    timeoutMs: (seconds ?? defaultSeconds) * 1000,
    maxChars: maxShownChars,
    saveOutput: true,
    ...(progress ? { onOutput: throttleOutput(progress) } : {}),
  });
  return commandResultOutput(ran, seconds ?? defaultSeconds);
}

const maxCharsPerInterval = 500_000;
const sampleIntervalMs = 100;
const sampleChars = 4000;

/** Shows everything of what is not too much to look at; of a flood, what is written every now and then: who shows it must not hold up who writes it. */
function throttleOutput(show: (text: string) => void): (text: string) => void {
  let length = 0;
  let last = 0;
  return (text) => {
    length += text.length;
    if (length <= maxCharsPerInterval) return show(text);
    if (performance.now() - last < sampleIntervalMs) return undefined;
    last = performance.now();
    return show(`\n[…]\n${text.slice(-sampleChars).toWellFormed()}`);
  };
}
