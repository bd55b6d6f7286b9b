// The tools for background commands: read the output, and stop.
import type { Tool } from '../../core/index.ts';
import type { BackgroundCommands } from './background.ts';

const maxWaitSeconds = 600;
const commandIdSchema = { type: 'string', description: 'The id that run_command returned.' };

/** Returns the tools for background commands. They are deferred: starting such a command loads them. */
export const backgroundTools = (background: BackgroundCommands): readonly Tool[] =>
  [commandOutput(background), stopCommand(background)].map((tool) => ({ ...tool, deferred: true }));

const commandOutput = (background: BackgroundCommands): Tool => ({
  name: 'command_output',
  description: 'Read what a background command wrote since the last call. It can wait for more, or for the end.',
  input: {
    type: 'object',
    properties: {
      id: commandIdSchema,
      wait_s: {
        type: 'integer',
        minimum: 0,
        maximum: maxWaitSeconds,
        description: 'Max seconds to wait; default 0.',
      },
      until: { type: 'string', minLength: 1, description: 'Exact text in the new output that ends the wait.' },
    },
    required: ['id'],
    additionalProperties: false,
  },
  effect: 'read',
  untrustedOutput: true,
  async execute(input, { signal }) {
    const { id: which, wait_s: seconds = 0, until } = input as { id: string; wait_s?: number; until?: string };
    return background.get(which).poll({ ms: seconds * 1000, signal, ...(until === undefined ? {} : { until }) });
  },
});

const stopCommand = (background: BackgroundCommands): Tool => ({
  name: 'stop_command',
  description: 'Stop a background command and all its processes.',
  input: { type: 'object', properties: { id: commandIdSchema }, required: ['id'], additionalProperties: false },
  effect: 'write',
  untrustedOutput: true,
  idempotent: true,
  execute: (input, { signal }) => background.get((input as { id: string }).id).stop(signal),
});
