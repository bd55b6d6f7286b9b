// The interactive mode: opens the terminal UI and a conversation, and handles user actions until the user quits.
import path from 'node:path';
import { isAwaitingApproval } from '../../agent/index.ts';
import { attachToPrompt, type Conversation } from '../../coding-agent/index.ts';
import { escapeInvisibleLine } from '../../core/index.ts';
import {
  assertSessionFolder,
  getShortSessionId,
  previewText,
  resolveSession,
  summarizeSession,
  type SessionFile,
  type SessionResolution,
} from '../../sessions/index.ts';
import { formatNoToolsWarning } from '../../coding-agent/models/index.ts';
import { readSettings, type Settings } from '../../coding-agent/settings/index.ts';
import {
  appendPromptHistory,
  readPromptHistory,
  startBackgroundCleanup,
  withDebugLog,
} from '../../coding-agent/state/index.ts';
import { nextPermissionMode } from '../../guards/index.ts';
import { exitCodes } from '../args/exit-codes.ts';
import type { CliArgs } from '../args/parse-args.ts';
import { onShutdown } from '../args/shutdown-signals.ts';
import { print, printErr } from '../args/stdio.ts';
import type { CommandContext } from '../slash-commands/slash-command.ts';
import { pickRewindTarget } from '../slash-commands/rewind-command.ts';
import { notifyLoadedResources } from '../slash-commands/info-commands.ts';
import { changePermissionMode } from '../slash-commands/permission-commands.ts';
import { resumeOpenRun } from '../slash-commands/session-commands.ts';
import { readPromptFile } from '../../coding-agent/prompts/index.ts';
import { createUi, createUiPrompter, type TerminalUI, type UserAction } from '../tui/index.ts';
import { askProjectTrust } from './project-trust.ts';
import { createCompleter } from './completer.ts';
import { followSession } from './follow-session.ts';
import { createRunController, replayedMessages, type RunController } from './run-controller.ts';
import { openConversation, prepareConversation } from './startup.ts';

/** Opens the prompt and returns the exit code when the user quits. */
export function runInteractive(args: CliArgs): Promise<number> {
  const settings = readSettings();
  return withDebugLog(settings, 'interactive', printErr, async () => {
    const ui = await createUi({ plain: args.plain, settings });
    let lastSession: SessionFile | undefined;
    try {
      return await runWithUi(ui, args, settings, (sessionFile) => (lastSession = sessionFile));
    } finally {
      await ui.close();
      if (lastSession && process.stdout.isTTY) print(formatResumeHint(settings, lastSession));
    }
  });
}

async function runWithUi(
  ui: TerminalUI,
  args: CliArgs,
  startSettings: Settings,
  onClosed: (sessionFile: SessionFile | undefined) => void,
): Promise<number> {
  const resolved = await resolveStartSession(args, startSettings, ui);
  if (!resolved) return exitCodes.failed;
  const { selector, locked, folder } = resolved;
  // The settings, the trust and the model are those of the folder that the session runs in.
  if (folder !== undefined) process.chdir(folder);
  const settings = await askProjectTrust(folder === undefined ? startSettings : readSettings(), createUiPrompter(ui));
  let prepared = await prepareConversation(args, settings, ui);
  if (typeof prepared === 'number') return prepared;
  if (locked && !(await followSession(locked, ui, replayedMessages))) return exitCodes.answered;
  let conversation = await openConversation({ ...prepared, selector }, ui);
  while (conversation === undefined) {
    prepared = await prepareConversation(args, prepared.settings, ui);
    if (typeof prepared === 'number') return prepared;
    conversation = await openConversation({ ...prepared, selector }, ui);
  }
  if (typeof conversation === 'number') return conversation;
  try {
    return await runUntilQuit(conversation, ui, args);
  } finally {
    const { name, file } = conversation;
    const hasMessages = conversation.session.messages.length > 0;
    await conversation.close();
    onClosed(file !== undefined && hasMessages ? { name, file } : undefined);
  }
}

/** Resolves which session to open, and in which folder. Lines from a pipe are not answers, so a session of another folder is then refused. */
function resolveStartSession(
  args: CliArgs,
  { dirs }: Settings,
  ui: TerminalUI,
): Promise<SessionResolution | undefined> {
  const cwd = process.cwd();
  const isChosen = args.cwd !== undefined;
  if (!process.stdin.isTTY && !isChosen) assertSessionFolder(args.session, dirs, cwd);
  return resolveSession(args.session, dirs, ui, { cwd, isChosen });
}

/** The line after the program has ended: how to resume the session. */
function formatResumeHint({ dirs, profile }: Settings, sessionFile: SessionFile): string {
  const summary = summarizeSession(sessionFile);
  if (!summary) return '';
  const { id, title } = summary;
  return `To resume "${previewText(escapeInvisibleLine(title), 50)}": ${profile.program} --resume ${getShortSessionId(dirs, id)}\n`;
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
    `${conversation.settings.profile.product} with ${conversation.model.name}, session "${conversation.name}". /help lists the commands; Ctrl+D quits.`,
  );
  for (const warning of conversation.settings.warnings) notify(warning, 'warning');
  notifyLoadedResources(context);
  const { name, description } = conversation.agent.sandbox;
  // Commands in a container do not use the sandbox of this machine.
  const usesSandbox = conversation.settings.commands === 'local';
  if (usesSandbox && name === 'none') notify(`No sandbox: ${description}`, 'warning');
  if (usesSandbox && name === 'refused') notify(description, 'warning');
  const noTools = formatNoToolsWarning(conversation.model);
  if (noTools !== undefined) notify(noTools, 'warning');
}

/** Runs the prompt of the command line, or resumes the open run of the session. */
async function startFirstRun({ context, start }: RunController, args: CliArgs): Promise<void> {
  const prompt = await readInitialPrompt(args);
  if (prompt !== undefined)
    start(async () => {
      const { input, notices } = attachToPrompt(context.conversation, prompt);
      for (const notice of notices) context.notify(notice, 'warning');
      await context.runAgent(input);
    });
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
      return void changePermissionMode(context, nextPermissionMode(context.conversation.mode));
    case 'paste-image':
      return void pasteImage(context);
    case 'rewind':
      return busy ? undefined : controller.start(() => pickRewindTarget(context));
    case 'submit':
      if (action.text.trim() === '') return undefined;
      if (context.conversation.file !== undefined) appendPromptHistory(context.conversation.settings, action.text);
      return controller.handleInput(action.text, action.how);
  }
}

/** Puts the path of the image in the clipboard into the input field: the image is attached when the prompt is sent. */
async function pasteImage({ conversation, ui, notify }: CommandContext): Promise<void> {
  const { saveClipboardImage } = await import('./clipboard-image.ts');
  const folder = path.join(conversation.settings.dirs.cache, 'pasted');
  const saved = await saveClipboardImage(folder, { cwd: conversation.agent.workspace.cwd });
  if ('file' in saved) ui.insertInput(`@${saved.file} `);
  else notify(saved.problem, 'warning');
}
