// Runs a command in a container of its own, which keeps what it writes in a volume: the workspace it is handed must run commands there.
import type { Tool, Workspace } from '../core/index.ts';
import { ranOutput } from './run-command.ts';

const usualSeconds = 60;
const mostSeconds = 600;

/** The tool that runs commands in a container. */
export const sandboxedCommand = (workspace: Pick<Workspace, 'exec'>, mountpoint = '/workspace'): Tool => ({
  name: 'execute_sandboxed_command',
  description: `Run a shell command in a container without network. Files in ${mountpoint} persist; the user's files are not there.`,
  input: {
    type: 'object',
    properties: {
      command: { type: 'string' },
      timeout_s: { type: 'integer', minimum: 1, maximum: mostSeconds, description: `${usualSeconds} unless given.` },
    },
    required: ['command'],
    additionalProperties: false,
  },
  effect: 'write',
  async run(input, { signal, progress }) {
    const { command, timeout_s: seconds = usualSeconds } = input as { command: string; timeout_s?: number };
    const ran = await workspace.exec(command, {
      signal,
      timeoutMs: seconds * 1000,
      ...(progress ? { onOutput: progress } : {}),
    });
    return ranOutput(ran, seconds);
  },
});
