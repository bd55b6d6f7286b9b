// Background commands: each has an id in this process, bounded output, and ends with the session that started it.
import { randomUUID } from 'node:crypto';
import {
  FairleadError,
  errorMessage,
  toolOutput,
  escapeInvisibleLine,
  type ToolOutput,
  type ExecResult,
  type Reminder,
  type Workspace,
} from '../../core/index.ts';
import type { CommandInput } from './command.ts';
import { formatCommandFailure, formatCommandOutput } from './format-result.ts';
import { createOutputReader, type OutputWait } from './output-reader.ts';

const maxRunning = 16;
/** How many ended commands are kept. */
const maxEnded = 32;
/** A server may have to save its state before it exits. */
const graceMs = 1000;
const defaultSeconds = 24 * 60 * 60;

/** The background commands of one agent. */
export type BackgroundCommands = {
  /** Starts a command. Throws if it cannot be started. */
  start(input: CommandInput, session: string): Promise<BackgroundCommand>;
  /** Returns the command with this id. Throws if there is none. */
  get(id: string): BackgroundCommand;
  /** Reminds the session that started them of commands that ended and were not polled. */
  readonly reminder: Reminder;
  /** Stops all commands. */
  close(): Promise<void>;
};

/** A background command. */
export type BackgroundCommand = {
  readonly id: string;
  /** Returns the new output and the status. */
  poll(wait: OutputWait): Promise<ToolOutput>;
  /** Stops it with all its processes, and returns the rest of its output. */
  stop(signal: AbortSignal): Promise<ToolOutput>;
};

type RunningCommand = BackgroundCommand & {
  readonly session: string;
  /** Rejects if it was refused before it started: the call that started it then fails. */
  readonly started: Promise<unknown>;
  readonly finished: Promise<unknown>;
  /** Returns how it ended, if it has and was not reported. */
  unreportedEnd(): string | undefined;
  isRunning(): boolean;
  terminate(): void;
};

/** Creates an empty set of background commands, which run in this workspace. */
export function createBackgroundCommands(workspace: Pick<Workspace, 'exec'>): BackgroundCommands {
  const commands = new Map<string, RunningCommand>();
  const all = (): readonly RunningCommand[] => [...commands.values()];
  return {
    async start(input, session) {
      if (all().filter((command) => command.isRunning()).length >= maxRunning)
        throw commandError('too-many', `${maxRunning} commands run in the background already; stop one first.`);
      const ended = all().filter((command) => !command.isRunning());
      for (const { id } of ended.slice(0, Math.max(0, ended.length - maxEnded + 1))) commands.delete(id);
      const command = startCommand(workspace, input, session);
      // Registered at once, so that a close stops it too.
      commands.set(command.id, command);
      try {
        await command.started;
      } catch (error) {
        commands.delete(command.id);
        throw error;
      }
      return command;
    },
    get(id) {
      const command = commands.get(id);
      if (command) return command;
      const known = all().map((each) => each.id);
      throw commandError(
        'gone',
        `There is no command ${escapeInvisibleLine(id)}: this process did not start it, and commands of an earlier process ended with it and are not restarted. ${known.length ? `There are: ${known.join(', ')}.` : 'No other was started.'}`,
      );
    },
    reminder: (_turn, _most, { session }) =>
      all()
        .filter((command) => command.session === session)
        .flatMap((command) => command.unreportedEnd() ?? [])
        .join('\n'),
    async close() {
      for (const command of commands.values()) command.terminate();
      await Promise.all(all().map((command) => command.finished));
      commands.clear();
    },
  };
}

const commandError = (code: string, message: string): FairleadError =>
  new FairleadError(`tool/${code}`, message, { blame: 'model' });

/** Returns the result of starting a command, with instructions how to poll it. */
export const startedCommandOutput = ({ id }: BackgroundCommand): ToolOutput =>
  toolOutput({
    text: [
      `Started in the background as ${id}. You will get a note when it ends. Manage it with these tools (through use_tool if they are not in your list):`,
      `command_output {"id": "${id}", "wait_s": 10, "until": "text to wait for"}`,
      `stop_command {"id": "${id}"}`,
    ].join('\n'),
    data: { id },
    loadsTools: ['command_output', 'stop_command'],
  });

function startCommand(workspace: Pick<Workspace, 'exec'>, input: CommandInput, session: string): RunningCommand {
  const { command, timeout_s: seconds = defaultSeconds } = input;
  const id = `bg-${randomUUID().slice(0, 6)}`;
  const since = performance.now();
  const stop = new AbortController();
  const tap = createOutputReader();
  let isTold = false;
  const running = workspace.exec(command, {
    signal: stop.signal,
    timeoutMs: seconds * 1000,
    saveOutput: true,
    killWithParent: true,
    graceMs,
    onOutput: (text, so) => tap.append(text, so),
  });
  const finished = running.then(
    (result) => tap.end(formatEnd(result, seconds)),
    (error: unknown) => tap.end(`It could not be run: ${errorMessage(error)}`),
  );
  const started = Promise.race([running, new Promise((resolve) => setImmediate(resolve))]);

  async function look(wait: OutputWait): Promise<ToolOutput> {
    await tap.wait(wait);
    const { text, size } = tap.read();
    const end = tap.ended();
    isTold ||= end !== undefined;
    // The elapsed time differs at each poll, so that a waiting model is not detected as stuck.
    const how = end ?? `It has been running for ${((performance.now() - since) / 1000).toFixed(1)} s.`;
    return toolOutput({
      text: formatCommandOutput(text, [...(text === '' ? ['Nothing new.'] : []), ...size, how]),
      data: { id, ended: end !== undefined },
    });
  }

  return {
    id,
    session,
    started,
    finished,
    poll: look,
    async stop(signal) {
      stop.abort();
      await finished;
      return look({ ms: 0, signal });
    },
    isRunning: () => tap.ended() === undefined,
    terminate: () => stop.abort(),
    unreportedEnd() {
      const end = tap.ended();
      if (end === undefined || isTold) return undefined;
      isTold = true;
      return `The background command ${id} (${escapeInvisibleLine(command).slice(0, 200)}) has ended. ${end} command_output shows what it wrote since the last call.`;
    },
  };
}

function formatEnd(result: ExecResult, seconds: number): string {
  if (result.stopped === 'abort') return 'It was stopped.';
  return formatCommandFailure(result, seconds) ?? 'It ended with exit code 0.';
}
