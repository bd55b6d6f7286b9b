// Slash commands that create, name, resume, clone, show and edit sessions.
import { existsSync } from 'node:fs';
import { isAwaitingApproval } from '../../agent/index.ts';
import {
  chooseFolder,
  createSessionSearch,
  findSession,
  toSessionChoice,
  toSessionChoices,
  readTranscript,
  findFreeName,
  listSessions,
  sessionFilePath,
  normalizeSessionName,
  formatSessionTranscript,
} from '../../sessions/index.ts';
import { editSession, openFileInEditor } from '../editor/index.ts';
import type { CommandContext, SlashCommand } from './slash-command.ts';

type SessionSubcommand = {
  readonly description: string;
  readonly argumentHint?: string;
  run(args: string, context: CommandContext): Promise<void> | void;
  complete?: SlashCommand['complete'];
};

const sessionChoices: NonNullable<SlashCommand['complete']> = (_, { conversation }) => {
  const others = listSessions(conversation.settings.dirs).filter(({ name }) => name !== conversation.name);
  return others.map(toSessionChoice);
};

/** Returns the name to use: '' if none was given, a free variant if the name is taken and the user agrees, undefined if the user does not agree. */
async function resolveNewName(
  args: string,
  { conversation, ui, notify, signal }: CommandContext,
): Promise<string | undefined> {
  if (args.trim() === '') return '';
  const name = normalizeSessionName(args);
  const isTaken = (each: string): boolean =>
    each !== conversation.name && existsSync(sessionFilePath(conversation.settings.dirs, each));
  const free = findFreeName(name, isTaken);
  if (free === name) return name;
  const key = await ui.askKey(
    {
      title: `There is already a session named "${name}". Call this one "${free}"?`,
      keys: [
        { key: 'y', label: 'yes' },
        { key: 'n', label: 'no' },
      ],
      defaultKey: 'n',
    },
    signal,
  );
  if (key !== 'y') notify('Nothing was changed.');
  return key === 'y' ? free : undefined;
}

async function resumeSession(args: string, context: CommandContext): Promise<void> {
  const { conversation, ui, notify, signal } = context;
  const { dirs } = conversation.settings;
  const { cwd } = conversation.agent.workspace;
  const others = args.trim() ? [] : listSessions(dirs).filter(({ name }) => name !== conversation.name);
  if (others.length === 0 && !args.trim()) return notify('There is no other session yet.');
  const search = createSessionSearch(dirs, cwd, ({ name }) => name !== conversation.name);
  const which =
    args.trim() ||
    (await ui.pick('Resume which session?', toSessionChoices(others, cwd), { signal, noun: 'sessions', search }));
  if (!which) return notify(`Still in "${conversation.name}".`);
  const sessionFile = findSession(dirs, which);
  const folder = await chooseFolder(sessionFile, cwd, { askKey: (question) => ui.askKey(question, signal) });
  if (folder === undefined) return notify(`Still in "${conversation.name}".`);
  await conversation.switchSession({ type: 'resume', session: sessionFile.name });
  // Before anything of the session runs: a pending command belongs to its folder.
  if (folder !== cwd) await conversation.changeDirectory(folder);
  notify(`Resumed "${conversation.name}"${folder === cwd ? '' : ` in ${folder}`}.`);
  return resumeOpenRun(context);
}

/** Asks for the pending approvals of a resumed session, or tells the user that its last run has not ended. */
export async function resumeOpenRun({
  conversation,
  notify,
  runAgent,
}: Pick<CommandContext, 'conversation' | 'notify' | 'runAgent'>): Promise<void> {
  const { state } = conversation.session;
  if (isAwaitingApproval(state)) await runAgent();
  else if (state.run !== undefined)
    notify('The last run of this session did not finish: /continue resumes it.', 'warning');
}

async function editMessages({ conversation, ui, notify, signal }: CommandContext): Promise<void> {
  const { needsTmux } = conversation.settings;
  const outcome = await editSession(conversation.session, { ui, signal, needsTmux });
  if (outcome.type !== 'edited') return notify(outcome.message);
  await conversation.notifyMoved();
  for (const notice of outcome.notices) notify(notice, 'warning');
  return notify('Saved as a new branch; /tree shows the old one.');
}

async function editLogFile({ conversation, ui, notify, signal }: CommandContext): Promise<void> {
  if (conversation.file === undefined) return notify(`${ephemeralNotice} It has no log file.`, 'warning');
  const { needsTmux } = conversation.settings;
  let failure: string | undefined;
  const edited = await conversation.editFile(async (file) => {
    failure = await openFileInEditor(file, { ui, signal, needsTmux });
  });
  if (failure !== undefined) notify(failure, 'warning');
  if (edited.type === 'rejected') return notify(edited.message, 'warning');
  if (edited.type === 'empty') return notify('The session has no messages yet, so there is nothing to edit.');
  if (edited.type === 'edited') return notify('The edit is recorded as a new branch; /tree shows the old one.');
  return failure === undefined ? notify('Nothing was edited, so the session was not changed.') : undefined;
}

const ephemeralNotice = 'This session is not saved (--ephemeral).';

const sessionSubcommands: Readonly<Record<string, SessionSubcommand>> = {
  new: {
    description: 'start a session without history, named by date and time',
    argumentHint: '<name>',
    async run(args, context) {
      const { conversation, ui, notify } = context;
      const name = await resolveNewName(args, context);
      if (name === undefined) return;
      await conversation.switchSession({ type: 'new', ...(name ? { name } : {}) });
      ui.clear();
      notify(`A new session: "${conversation.name}".`);
    },
  },
  rename: {
    description: 'rename this session',
    argumentHint: '<name>',
    async run(args, context) {
      const { conversation, refreshStatus, notify } = context;
      if (conversation.file === undefined) return notify(`${ephemeralNotice} It has no name.`, 'warning');
      if (!args.trim()) return notify('A name is needed: /session rename <name>', 'warning');
      const old = conversation.name;
      const name = await resolveNewName(args, context);
      if (name === undefined) return undefined;
      await conversation.rename(name);
      refreshStatus();
      return notify(`"${old}" is now "${conversation.name}".`);
    },
  },
  title: {
    description: 'give this session a title for lists; without one, show it',
    argumentHint: '<title>',
    async run(args, { conversation, refreshStatus, notify }) {
      if (args.trim()) await conversation.setTitle(args);
      refreshStatus();
      return notify(`The title is "${conversation.title}".`);
    },
  },
  resume: {
    description: 'continue another session',
    argumentHint: '<name>',
    run: resumeSession,
    complete: sessionChoices,
  },
  clone: {
    description: 'copy this session and continue the copy',
    argumentHint: '<name>',
    async run(args, context) {
      const { conversation, notify } = context;
      if (conversation.file === undefined) return notify(`${ephemeralNotice} It cannot be copied.`, 'warning');
      const old = conversation.name;
      const name = await resolveNewName(args, context);
      if (name === undefined) return undefined;
      await conversation.switchSession({ type: 'clone', session: old, ...(name ? { name } : {}) });
      return notify(`A copy of "${old}": "${conversation.name}". The original stays as it was.`);
    },
  },
  'show-messages': {
    description: 'print every message',
    async run(_, { conversation, showPage }) {
      const { messages, calls, added } = await readTranscript(conversation.session.log);
      showPage(formatSessionTranscript(messages, calls, added) || 'There are no messages yet.', conversation.name);
    },
  },
  edit: {
    description: 'edit the messages, or the log file, in your editor; saving creates a new branch',
    run: (_, context) =>
      context.conversation.settings.sessionEdit === 'log' ? editLogFile(context) : editMessages(context),
  },
};

const sessionCommand: SlashCommand = {
  name: 'session',
  description: Object.keys(sessionSubcommands).join(', '),
  argumentHint: '<verb>',
  async complete(args, context) {
    const space = args.indexOf(' ');
    if (space < 0)
      return Object.entries(sessionSubcommands).map(([name, { description, argumentHint }]) => ({
        value: `${name}${argumentHint === undefined ? '' : ' '}`,
        label: name,
        description,
      }));
    const verb = args.slice(0, space);
    const choices = Object.hasOwn(sessionSubcommands, verb)
      ? await sessionSubcommands[verb]?.complete?.(args.slice(space + 1), context)
      : [];
    return (choices ?? []).map((choice) => ({ ...choice, value: `${verb} ${choice.value}` }));
  },
  async run(args, context) {
    const [, word = '', rest = ''] = /^(\S*)\s*([^]*)$/.exec(args.trim()) ?? [];
    const verb = Object.hasOwn(sessionSubcommands, word) ? sessionSubcommands[word] : undefined;
    if (!verb) {
      const lines = Object.entries(sessionSubcommands).map(
        ([name, { description, argumentHint = '' }]) => `/session ${name} ${argumentHint}`.padEnd(28) + description,
      );
      return context.showPage(lines.join('\n'), word ? `There is no /session ${word}; there are:` : '/session');
    }
    return verb.run(rest, context);
  },
};

const resumeCommand: SlashCommand = {
  name: 'resume',
  description: 'continue another session',
  argumentHint: '<name>',
  complete: sessionChoices,
  run: resumeSession,
};

const saveCommand: SlashCommand = {
  name: 'save',
  description: 'show the file of this session; with a name, rename it',
  argumentHint: '<name>',
  async run(args, context) {
    if (context.conversation.file === undefined) return context.notify(ephemeralNotice);
    if (args.trim()) await sessionSubcommands['rename']?.run(args, context);
    return context.notify(`Every event is already saved in ${context.conversation.file}`);
  },
};

const clearCommand: SlashCommand = {
  name: 'clear',
  description: 'start an empty session and clear the screen; the old session is kept',
  run: (_, context) => sessionSubcommands['new']?.run('', context),
};

const newCommand: SlashCommand = {
  name: 'new',
  description: 'start an empty session; the old session is kept',
  argumentHint: '<name>',
  run: (args, context) => sessionSubcommands['new']?.run(args, context),
};

/** The slash commands on sessions. */
export const sessionCommands: readonly SlashCommand[] = [
  sessionCommand,
  newCommand,
  resumeCommand,
  saveCommand,
  clearCommand,
];
