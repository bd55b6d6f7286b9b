// Runs a shell command in the workspace and shows what it writes while it writes it.
import { stripVTControlCharacters } from 'node:util';
import { FairleadError, output, visible, type Output, type Ran, type Tool, type Workspace } from '../core/index.ts';

const usualSeconds = 120;
const mostSeconds = 3600;

/** The tool that runs commands. */
export const runCommand = (workspace: Workspace): Tool => ({
  name: 'run_command',
  description:
    'Run a shell command in the working folder. Whatever it leaves running is ended with it. It usually runs in a sandbox: only the working folder can be written, and there is no network.',
  input: {
    type: 'object',
    properties: {
      command: { type: 'string' },
      timeout_s: { type: 'integer', minimum: 1, maximum: mostSeconds, description: `${usualSeconds} unless given.` },
    },
    required: ['command'],
    additionalProperties: false,
  },
  effect: 'outside',
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

/** How a command ended, in words; one that was aborted throws, so that its call counts as interrupted. */
export function ranOutput(ran: Ran, seconds: number): Output {
  const said = readable(ran.text);
  if (ran.stopped === 'abort')
    throw new FairleadError('tool/interrupted', `The command was interrupted.\n${said}`.trimEnd(), { blame: 'user' });
  const how = howEnded(ran, seconds);
  const text = [said, ...(how ? [`[${how}]`] : [])].filter((each) => each !== '').join('\n');
  return output({
    text: text || '(no output)',
    failed: how !== undefined,
    data: { code: ran.code, signal: ran.signal, ...(ran.stopped ? { stopped: ran.stopped } : {}) },
  });
}

function howEnded({ code, signal, stopped }: Ran, seconds: number): string | undefined {
  if (stopped) return `Ended by us after ${seconds} s; set timeout_s if it needs longer.`;
  if (signal !== null) return `Ended by ${signal}.`;
  return code === 0 ? undefined : `Exit code ${code}.`;
}

/** Output as text: no colours, no cursor games, and everything else that does not show written out. */
const readable = (text: string): string =>
  visible(stripVTControlCharacters(text.split('\n').map(lastState).join('\n'))).trimEnd();

/** A return goes back to the beginning of its line: of a progress bar only the last state is told. */
const lastState = (line: string): string => line.split('\r').findLast((state) => state !== '') ?? '';
