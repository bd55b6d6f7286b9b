// The interactive mode: opens the terminal UI and a conversation, and handles user actions until the user quits.
import { isAwaitingApproval } from '../../agent/index.ts';
import { Conversation } from '../../coding-agent/index.ts';
import { formatNoToolsWarning } from '../../coding-agent/models/index.ts';
import { readSettings, type Settings } from '../../coding-agent/settings/index.ts';
import {
  appendPromptHistory,
  readPromptHistory,
  startBackgroundCleanup,
  withDebugLog,
} from '../../coding-agent/state/index.ts';
import { exitCodes } from '../args/exit-codes.ts';
import type { CliArgs } from '../args/parse-args.ts';
import { onShutdown } from '../args/shutdown-signals.ts';
import { printErr } from '../args/stdio.ts';
import type { CommandContext } from '../slash-commands/slash-command.ts';
import { pickRewindTarget } from '../slash-commands/history-commands.ts';
import { notifyLoadedResources } from '../slash-commands/info-commands.ts';
import { formatApprovalMode } from '../slash-commands/permission-commands.ts';
import { resumeOpenRun } from '../slash-commands/session-commands.ts';
import { readPromptFile } from '../print-mode/prompt-files.ts';
import { createUi, createUiPrompter, type TerminalUI, type UserAction } from '../tui/index.ts';
import { askProjectTrust } from './project-trust.ts';
import { createCompleter } from './completer.ts';
import { followSession } from './follow-session.ts';
import { createRunController, replayedMessages, type RunController } from './run-controller.ts';
import { prepareConversation } from './startup.ts';

/** Opens the prompt and returns the exit code when the user quits. */
export function runInteractive(args: CliArgs): Promise<number> {
  const settings = readSettings();
  return withDebugLog(settings, 'interactive', printErr, async () => {
    const ui = await createUi({ plain: args.plain });
    try {
      return await runWithUi(ui, args, settings);
    } finally {
      await ui.close();
    }
  });
}

async function runWithUi(ui: TerminalUI, args: CliArgs, startSettings: Settings): Promise<number> {
  const settings = await askProjectTrust(startSettings, createUiPrompter(ui));
  const prepared = await prepareConversation(args, settings, ui);
  if (typeof prepared === 'number') return prepared;
  if (prepared.locked && !(await followSession(prepared.locked, ui, replayedMessages))) return exitCodes.answered;
  const conversation = await Conversation.open(prepared);
  try {
    return await runUntilQuit(conversation, ui, args);
  } finally {
    await conversation.close();
  }
}

async function runUntilQuit(conversation: Conversation, ui: TerminalUI, args: CliArgs): Promise<number> {
  const { promise: quitRequested, resolve: quit } = Promise.withResolvers<void>();
  const signals = onShutdown(['SIGTERM', 'SIGHUP'], quit);
  const controller = createRunController(conversation, ui, quit);
  ui.setCompleter(createCompleter(conversation));
  ui.setHistory(readPromptHistory(conversation.settings));
  showBanner(controller.context);
  controller.context.refreshStatus();
  await startFirstRun(controller, args);
  ui.onAction((action) => handleUserAction(controller, action));
  const cleanup = startBackgroundCleanup(conversation.settings.dirs);
  await quitRequested;
  cleanup.abort();
  await controller.shutdown();
  signals.release();
  return signals.code ?? exitCodes.answered;
}

/** Shows the model, the session, what was loaded for the directory, and warnings. */
function showBanner(context: CommandContext): void {
  const { conversation, notify } = context;
  notify(
    `Fairlead with ${conversation.model.name}, session "${conversation.name}". /help lists the commands; Ctrl+D quits.`,
  );
  for (const warning of conversation.settings.warnings) notify(warning, 'warning');
  notifyLoadedResources(context);
  const { name, description } = conversation.agent.sandbox;
  if (name === 'none') notify(`No sandbox: ${description}`, 'warning');
  if (name === 'refused') notify(description, 'warning');
  const noTools = formatNoToolsWarning(conversation.model);
  if (noTools !== undefined) notify(noTools, 'warning');
}

/** Runs the prompt of the command line, or resumes the open run of the session. */
async function startFirstRun({ context, start }: RunController, args: CliArgs): Promise<void> {
  const prompt = await readInitialPrompt(args);
  if (prompt !== undefined) start(() => context.runAgent(prompt));
  else if (isAwaitingApproval(context.conversation.session.state)) start(() => resumeOpenRun(context));
  // Not a job: the controller must be idle for input that the user has typed already.
  else await resumeOpenRun(context);
}

async function readInitialPrompt({ action }: CliArgs): Promise<string | undefined> {
  if (action?.type === 'prompt') return action.text;
  return action?.type === 'prompt-file' ? readPromptFile(action.path, process.cwd()) : undefined;
}

function handleUserAction(controller: RunController, action: UserAction): void {
  const { context, busy } = controller;
  switch (action.type) {
    case 'quit':
      return context.quit();
    case 'interrupt':
      return controller.interrupt();
    case 'toggle-approval':
      return toggleApprovalMode(context);
    case 'rewind':
      return busy ? undefined : controller.start(() => pickRewindTarget(context));
    case 'submit':
      if (action.text.trim() === '') return undefined;
      if (context.conversation.file !== undefined) appendPromptHistory(context.conversation.settings, action.text);
      return controller.handleInput(action.text, action.how);
  }
}

function toggleApprovalMode({ conversation, notify, refreshStatus }: CommandContext): void {
  conversation.autoApprove = !conversation.autoApprove;
  notify(formatApprovalMode(conversation.autoApprove));
  refreshStatus();
}
