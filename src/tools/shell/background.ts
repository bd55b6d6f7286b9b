// Commands that go on while the model does something else: each under an id of this process alone, bounded, and ended with what started it.
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
/** How many of those that ended can still be looked at. */
const maxEnded = 32;
/** A server may have to write down what it knows before it ends. */
const graceMs = 1000;
const defaultSeconds = 24 * 60 * 60;

/** The commands in the background of one agent. */
export type BackgroundCommands = {
  /** Starts a command; one that cannot even be started throws. */
  start(input: CommandInput, session: string): Promise<BackgroundCommand>;
  /** The command of this id; throws where this process has none. */
  get(id: string): BackgroundCommand;
  /** Tells the session that started them which commands ended without anyone having looked. */
  readonly reminder: Reminder;
  /** Ends all of them. */
  close(): Promise<void>;
};

/** A command that was started. */
export type BackgroundCommand = {
  readonly id: string;
  /** What it wrote since the last look, and how it stands. */
  poll(wait: OutputWait): Promise<ToolOutput>;
  /** Ends it with all it started, and looks at it for the last time. */
  stop(signal: AbortSignal): Promise<ToolOutput>;
};

type RunningCommand = BackgroundCommand & {
  readonly session: string;
  /** Rejects where it was refused before anything began: that is told as a failure of the very call that started it. */
  readonly started: Promise<unknown>;
  readonly finished: Promise<unknown>;
  /** How it ended, where it has and nobody has been told. */
  unreportedEnd(): string | undefined;
  isRunning(): boolean;
  terminate(): void;
};

/** No command to begin with. They run where this workspace runs them. */
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
      // Known from the first moment on: whoever closes now ends it too.
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
        `The command ${escapeInvisibleLine(id)} is gone: this process did not start it, and what an earlier one started ended with that and is not started again. ${known.length ? `There are: ${known.join(', ')}.` : 'No other was started.'}`,
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

/** What is said when a command has been started, with the way to look after it. */
export const startedCommandOutput = ({ id }: BackgroundCommand): ToolOutput =>
  toolOutput({
    text: [
      `Started in the background as ${id}. You are told when it ends. Look after it with these tools (through use_tool where they are not in your list):`,
      `command_output {"id": "${id}", "wait_s": 10, "until": "words to wait for"}`,
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
  const over = running.then(
    (ran) => tap.end(formatEnd(ran, seconds)),
    (error: unknown) => tap.end(`It could not be run: ${errorMessage(error)}`),
  );
  const begun = Promise.race([running, new Promise((resolve) => setImmediate(resolve))]);

  async function look(wait: OutputWait): Promise<ToolOutput> {
    await tap.wait(wait);
    const { text, size } = tap.read();
    const end = tap.ended();
    isTold ||= end !== undefined;
    // A time that differs at each look keeps a patient model from being taken for one that is stuck.
    const how = end ?? `It has been running for ${((performance.now() - since) / 1000).toFixed(1)} s.`;
    return toolOutput({
      text: formatCommandOutput(text, [...(text === '' ? ['Nothing new.'] : []), ...size, how]),
      data: { id, ended: end !== undefined },
    });
  }

  return {
    id,
    session,
    started: begun,
    finished: over,
    poll: look,
    async stop(signal) {
      stop.abort();
      await over;
      return look({ ms: 0, signal });
    },
    isRunning: () => tap.ended() === undefined,
    terminate: () => stop.abort(),
    unreportedEnd() {
      const end = tap.ended();
      if (end === undefined || isTold) return undefined;
      isTold = true;
      return `The background command ${id} (${escapeInvisibleLine(command).slice(0, 200)}) has ended. ${end} command_output shows what it wrote since you last looked.`;
    },
  };
}

function formatEnd(ran: ExecResult, seconds: number): string {
  if (ran.stopped === 'abort') return 'It was stopped.';
  return formatCommandFailure(ran, seconds) ?? 'It ended with exit code 0.';
}
