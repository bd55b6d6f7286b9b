// Prepares a conversation in interactive mode: chooses the model, and asks the user where needed.
import { FairleadError } from '../../core/index.ts';
import { formatCliError } from '../args/program-name.ts';
import { createUiPrompter } from '../tui/create-ui.ts';
import type { TerminalUI } from '../tui/ui.ts';
import type { CliArgs } from '../args/parse-args.ts';
import { exitCodeForError, exitCodes } from '../args/exit-codes.ts';
import { onShutdown } from '../args/shutdown-signals.ts';
import type { Settings } from '../../coding-agent/settings/index.ts';
import { Conversation, type ConversationOptions } from '../../coding-agent/index.ts';
import {
  defaultEndpoint,
  getModelEndpoint,
  selectStartModel,
  testConnection,
  type ChosenModel,
} from '../../coding-agent/models/index.ts';
import { createModelChooser } from '../login/model-chooser.ts';

/** The options of a conversation without its session. */
export type PreparedConversation = Omit<ConversationOptions, 'selector'> & {
  /** Whether the user picked the model from the list of this start. */
  readonly isPicked: boolean;
};

/** Returns the options of a conversation, or an exit code if the program ends here. */
export async function prepareConversation(
  args: CliArgs,
  settings: Settings,
  ui: TerminalUI,
): Promise<PreparedConversation | number> {
  const selected = await whileCancellable(ui, (signal) => selectModel(args, settings, ui, signal));
  if (typeof selected === 'number') return selected;
  const { isPicked = false, ...chosen } = selected;
  const prompter = createUiPrompter(ui);
  // The lines of a pipe are input for the model, not the answer of a user.
  const answers = process.stdin.isTTY ? {} : { onInstructionsChanged: false as const };
  return { flags: args, host: prompter, prompter, rememberModel: true, ...answers, ...chosen, isPicked };
}

/** Opens the conversation; Esc, Ctrl+C and signals end a download. Returns an exit code if it cannot be opened, and undefined if the user picked a model that was not downloaded and chooses again. */
export async function openConversation(
  { isPicked, ...prepared }: PreparedConversation & Pick<ConversationOptions, 'selector'>,
  ui: TerminalUI,
): Promise<Conversation | number | undefined> {
  let isDownloadError = false;
  const opened = await whileCancellable(ui, (signal) =>
    Conversation.open({ ...prepared, host: { ...prepared.host, signal } }).catch((error: unknown) => {
      isDownloadError = error instanceof FairleadError && error.code.startsWith('embedded/');
      return showError(error, ui);
    }),
  );
  const isSignal = opened === exitCodes.terminated || opened === exitCodes.hangup;
  return isPicked && isDownloadError && !isSignal ? undefined : opened;
}

/** Runs a part of the start that the user and signals can cancel; its exit code is then that of an interruption. */
async function whileCancellable<T>(
  ui: TerminalUI,
  work: (signal: AbortSignal) => Promise<T | number>,
): Promise<T | number> {
  const stop = new AbortController();
  const signals = onShutdown(['SIGINT', 'SIGTERM', 'SIGHUP'], () => stop.abort());
  ui.onCancel(() => {
    // A second request does not wait for the orderly end.
    if (stop.signal.aborted) process.exit(exitCodes.interrupted);
    stop.abort();
  });
  try {
    const result = await work(stop.signal);
    return stop.signal.aborted && typeof result === 'number' ? (signals.code ?? exitCodes.interrupted) : result;
  } finally {
    ui.onCancel(undefined);
    signals.release();
  }
}

/** Shows an error of the user or a provider, and returns its exit code. */
function showError(error: unknown, ui: TerminalUI): number {
  if (!(error instanceof FairleadError)) throw error;
  ui.putBlock({ type: 'notice', id: crypto.randomUUID(), level: 'error', text: formatCliError(error) });
  return exitCodeForError(error.code);
}

async function selectModel(
  args: CliArgs,
  settings: Settings,
  ui: TerminalUI,
  signal: AbortSignal,
): Promise<ChosenModel | number> {
  const { action } = args;
  const notify = (text: string): void => ui.putBlock({ type: 'notice', id: crypto.randomUUID(), level: 'info', text });
  try {
    if (action?.type === 'test-connection')
      notify(await testConnection(settings, getModelEndpoint(settings, []) ?? defaultEndpoint, signal));
    const chosen = await selectStartModel(settings, {
      named: args.model,
      refresh: action?.type === 'refresh-models',
      onWarning: notify,
      signal,
      // The lines of a pipe are input for the model: they cannot choose one.
      ...(process.stdin.isTTY ? { chooser: createModelChooser(ui, settings, signal) } : {}),
    });
    return chosen ?? exitCodes.failed;
  } catch (error) {
    return showError(error, ui);
  }
}
