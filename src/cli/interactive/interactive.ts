// The interactive prompt: a person and a model in one conversation, with the person in control of it.
import { isAwaitingApproval } from '../../coding-agent/approvals.ts';
import { Conversation } from '../../coding-agent/conversation.ts';
import { prepareConversation } from './startup.ts';
import { createUi, type TerminalUI, type UserAction } from '../tui/index.ts';
import type { CliArgs } from '../args/parse-args.ts';
import { exitCodes } from '../args/exit-codes.ts';
import { printErr } from '../args/stdio.ts';
import { onShutdown } from '../args/shutdown-signals.ts';
import {
  appendPromptHistory,
  withDebugLog,
  readPromptHistory,
  startBackgroundCleanup,
} from '../../coding-agent/state/index.ts';
import { readPromptFile } from '../state/prompt-files.ts';
import { readSettings, type Settings } from '../../coding-agent/settings/index.ts';
import { formatApprovalMode } from '../slash-commands/permission-commands.ts';
import { resumeOpenRun } from '../slash-commands/resume-open-run.ts';
import { createCompleter } from './completer.ts';
import { pickRewindTarget } from '../slash-commands/rewind-picker.ts';
import { showBanner } from './banner.ts';
import { replayedMessages } from './bind-ui.ts';
import { followSession } from './follow-session.ts';
import { createRunController, type RunController } from './run-controller.ts';

/** Opens the prompt and stays until the person leaves. */
export function runInteractive(asked: CliArgs): Promise<number> {
  const settings = readSettings();
  return withDebugLog(settings, 'interactive', printErr, async () => {
    const face = await createUi({ plain: asked.plain });
    try {
      return await runWithUi(face, asked, settings);
    } finally {
      await face.close();
    }
  });
}

async function runWithUi(face: TerminalUI, asked: CliArgs, settings: Settings): Promise<number> {
  const prepared = await prepareConversation(asked, settings, face);
  if (typeof prepared === 'number') return prepared;
  if (prepared.locked && !(await followSession(prepared.locked, face, replayedMessages))) return exitCodes.answered;
  const talk = await Conversation.open(prepared);
  try {
    return await runUntilQuit(talk, face, asked);
  } finally {
    await talk.close();
  }
}

async function runUntilQuit(talk: Conversation, face: TerminalUI, asked: CliArgs): Promise<number> {
  const { promise: left, resolve: quit } = Promise.withResolvers<void>();
  const signals = onShutdown(['SIGTERM', 'SIGHUP'], quit);
  const bench = createRunController(talk, face, quit);
  face.setCompleter(createCompleter(talk));
  face.setHistory(readPromptHistory(talk.settings));
  showBanner(bench.context);
  bench.context.refreshStatus();
  await startFirstRun(bench, asked);
  face.onAction((heard) => handleUserAction(bench, heard));
  const tidying = startBackgroundCleanup(talk.settings.dirs);
  await left;
  tidying.abort();
  await bench.shutdown();
  signals.release();
  return signals.code ?? exitCodes.answered;
}

/** Says what the command line says, or goes on where the session was left. */
async function startFirstRun({ context, start }: RunController, asked: CliArgs): Promise<void> {
  const first = await readInitialPrompt(asked);
  // What was typed already must not find the prompt busy with nothing.
  if (first !== undefined) start(() => context.runAgent(first));
  else if (isAwaitingApproval(context.conversation.session.state)) start(() => resumeOpenRun(context));
  else await resumeOpenRun(context);
}

async function readInitialPrompt({ action }: CliArgs): Promise<string | undefined> {
  if (action?.type === 'prompt') return action.text;
  return action?.type === 'prompt-file' ? readPromptFile(action.path, process.cwd()) : undefined;
}

/** Does what the person did at the face. */
function handleUserAction(bench: RunController, heard: UserAction): void {
  const { context, busy } = bench;
  switch (heard.type) {
    case 'quit':
      return context.quit();
    case 'interrupt':
      return bench.interrupt();
    case 'mode':
      return toggleApprovalMode(bench);
    case 'back':
      return busy ? undefined : bench.start(() => pickRewindTarget(context));
    case 'line':
      if (heard.text.trim() === '') return undefined;
      if (context.conversation.file !== undefined) appendPromptHistory(context.conversation.settings, heard.text);
      return bench.handleInput(heard.text, heard.how);
  }
}

function toggleApprovalMode({ context: { conversation, notify, refreshStatus } }: RunController): void {
  conversation.autoApprove = !conversation.autoApprove;
  notify(formatApprovalMode(conversation.autoApprove));
  refreshStatus();
}
