// Shared by the tools that run commands: input schema, and waiting for the end.
import type { JsonObject, ToolOutput, ToolContext, Workspace } from '../../core/index.ts';
import { maxShownChars, commandResultOutput } from './format-result.ts';

/** Seconds that a command may take: default and max. */
export type TimeoutRange = { readonly defaultSeconds: number; readonly maxSeconds: number };

/** The input of a command tool. */
export type CommandInput = {
  readonly command: string;
  readonly timeout_s?: number;
  readonly background?: boolean;
  readonly write_git?: boolean;
};

/** Returns the input schema, with additional properties of a tool. */
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

/** Runs a command to its end and reports its output as progress. */
export async function runCommandToEnd(
  workspace: Pick<Workspace, 'exec' | 'isGitReadOnly'>,
  { command, timeout_s: seconds, write_git: writesGit }: CommandInput,
  { defaultSeconds }: TimeoutRange,
  { signal, progress }: Pick<ToolContext, 'signal' | 'progress'>,
): Promise<ToolOutput> {
  const result = await workspace.exec(command, {
    signal,
    timeoutMs: (seconds ?? defaultSeconds) * 1000,
    maxChars: maxShownChars,
    saveOutput: true,
    ...(writesGit ? { writesGit } : {}),
    ...(progress ? { onOutput: throttleOutput(progress) } : {}),
  });
  const isRefused =
    workspace.isGitReadOnly &&
    !writesGit &&
    ['.git', 'Read-only file system'].every((each) => result.text.includes(each));
  const isSuccess = result.code === 0 && result.signal === null && result.stopped === undefined;
  const hints = [...(isSuccess ? ['Exit code: 0.'] : []), ...(isRefused ? [readOnlyGitHint] : [])];
  const output = commandResultOutput(result, seconds ?? defaultSeconds, hints);
  return isRefused ? { ...output, loadsTools: ['git_change'] } : output;
}

const readOnlyGitHint =
  'Commands cannot write .git. Commit, create branches and switch with git_change; for anything else set write_git, and the user is asked.';

const maxCharsPerInterval = 500_000;
const sampleIntervalMs = 100;
const sampleChars = 4000;

/** Reports all output of normal size; of a flood, samples: reporting must not slow down the command. */
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
