// Commands about sessions: begin, name, resume, copy, look at and edit them.
import { existsSync } from 'node:fs';
import { toSessionChoice } from '../../sessions/resolve-session.ts';
import { editSession } from '../editor/index.ts';
import {
  readTranscript,
  findFreeName,
  listSessions,
  sessionFilePath,
  normalizeSessionName,
  formatSessionTranscript,
} from '../../sessions/index.ts';
import type { CommandContext, SlashCommand } from './context.ts';
import { resumeOpenRun } from './resume-open-run.ts';

type SessionSubcommand = {
  readonly description: string;
  readonly argumentHint?: string;
  run(args: string, desk: CommandContext): Promise<void> | void;
  complete?: SlashCommand['complete'];
};

const sessionChoices: NonNullable<SlashCommand['complete']> = (_, { conversation }) => {
  const others = listSessions(conversation.settings.dirs).filter(({ name }) => name !== conversation.name);
  return others.map(toSessionChoice);
};

/** The name that was given, or one like it that is free, if it is taken and the person agrees; empty where none was given, nothing where the person does not agree. */
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

async function resumeSession(args: string, desk: CommandContext): Promise<void> {
  const { conversation, ui, notify, signal } = desk;
  const choices = await sessionChoices('', { conversation });
  if (choices.length === 0 && !args.trim()) return notify('There is no other session yet.');
  const which = args.trim() || (await ui.pick('Resume which session?', choices, signal));
  if (!which) return notify(`Still in "${conversation.name}".`);
  await conversation.switchSession({ type: 'resume', session: which });
  notify(`Resumed "${conversation.name}".`);
  return resumeOpenRun(desk);
}

const ephemeralNotice = 'This session is kept nowhere (--ephemeral).';

const sessionSubcommands: Readonly<Record<string, SessionSubcommand>> = {
  new: {
    description: 'begin one with no history, named by date and time',
    argumentHint: '<name>',
    async run(args, desk) {
      const { conversation, ui, notify } = desk;
      const name = await resolveNewName(args, desk);
      if (name === undefined) return;
      await conversation.switchSession({ type: 'new', ...(name ? { name } : {}) });
      ui.clear();
      notify(`A new session: "${conversation.name}".`);
    },
  },
  rename: {
    description: 'rename this one',
    argumentHint: '<name>',
    async run(args, desk) {
      const { conversation, refreshStatus, notify } = desk;
      if (conversation.file === undefined) return notify(`${ephemeralNotice} It has no name to change.`, 'warning');
      if (!args.trim()) return notify('Rename it to what? /session rename <name>', 'warning');
      const old = conversation.name;
      const name = await resolveNewName(args, desk);
      if (name === undefined) return undefined;
      await conversation.rename(name);
      refreshStatus();
      return notify(`"${old}" is now "${conversation.name}".`);
    },
  },
  resume: {
    description: 'go on with another one',
    argumentHint: '<name>',
    run: resumeSession,
    complete: sessionChoices,
  },
  clone: {
    description: 'copy this one and go on with the copy',
    argumentHint: '<name>',
    async run(args, desk) {
      const { conversation, notify } = desk;
      if (conversation.file === undefined)
        return notify(`${ephemeralNotice} There is nothing to copy it from.`, 'warning');
      const old = conversation.name;
      const name = await resolveNewName(args, desk);
      if (name === undefined) return undefined;
      await conversation.switchSession({ type: 'clone', session: old, ...(name ? { name } : {}) });
      return notify(`A copy of "${old}": "${conversation.name}". The original stays as it was.`);
    },
  },
  'show-messages': {
    description: 'print every message',
    async run(_, { conversation, showPage }) {
      const { messages } = await readTranscript(conversation.session.log);
      showPage(formatSessionTranscript(messages) || 'There are no messages yet.', conversation.name);
    },
  },
  edit: {
    description: 'edit the messages in your editor; what you save is a new branch',
    async run(_, { conversation, ui, notify, signal }) {
      const outcome = await editSession(conversation.session, { ui, signal });
      if (outcome.type !== 'edited') return notify(outcome.message);
      conversation.notifyMoved();
      for (const notice of outcome.notices) notify(notice, 'warning');
      return notify('Saved as a new branch; /tree shows the old one.');
    },
  },
};

const sessionCommand: SlashCommand = {
  name: 'session',
  description: Object.keys(sessionSubcommands).join(', '),
  argumentHint: '<verb>',
  async complete(args, desk) {
    const space = args.indexOf(' ');
    if (space < 0)
      return Object.entries(sessionSubcommands).map(([name, { description, argumentHint }]) => ({
        value: `${name}${argumentHint === undefined ? '' : ' '}`,
        label: name,
        description,
      }));
    const verb = args.slice(0, space);
    const choices = Object.hasOwn(sessionSubcommands, verb)
      ? await sessionSubcommands[verb]?.complete?.(args.slice(space + 1), desk)
      : [];
    return (choices ?? []).map((choice) => ({ ...choice, value: `${verb} ${choice.value}` }));
  },
  async run(args, desk) {
    const [, word = '', rest = ''] = /^(\S*)\s*([^]*)$/.exec(args.trim()) ?? [];
    const verb = Object.hasOwn(sessionSubcommands, word) ? sessionSubcommands[word] : undefined;
    if (!verb) {
      const lines = Object.entries(sessionSubcommands).map(
        ([name, { description, argumentHint = '' }]) => `/session ${name} ${argumentHint}`.padEnd(28) + description,
      );
      return desk.showPage(lines.join('\n'), word ? `There is no /session ${word}; there are:` : '/session');
    }
    return verb.run(rest, desk);
  },
};

const resumeCommand: SlashCommand = {
  name: 'resume',
  description: 'go on with another session',
  argumentHint: '<name>',
  complete: sessionChoices,
  run: resumeSession,
};

const saveCommand: SlashCommand = {
  name: 'save',
  description: 'say where this session is kept; with a name, rename it',
  argumentHint: '<name>',
  async run(args, desk) {
    if (desk.conversation.file === undefined) return desk.notify(ephemeralNotice);
    if (args.trim()) await sessionSubcommands['rename']?.run(args, desk);
    return desk.notify(`Every step is already kept in ${desk.conversation.file}`);
  },
};

const clearCommand: SlashCommand = {
  name: 'clear',
  description: 'an empty conversation on an empty screen; the old one is kept',
  run: (_, desk) => sessionSubcommands['new']?.run('', desk),
};

/** Commands about sessions. */
export const sessionCommands: readonly SlashCommand[] = [sessionCommand, resumeCommand, saveCommand, clearCommand];
