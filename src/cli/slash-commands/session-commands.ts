// Commands about sessions: begin, name, resume, copy, look at and edit them.
import { existsSync } from 'node:fs';
import { toSessionChoice } from '../../sessions/session-choice.ts';
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

const sessionChoices: NonNullable<SlashCommand['complete']> = (_, { conversation: talk }) => {
  const others = listSessions(talk.settings.dirs).filter(({ name }) => name !== talk.name);
  return others.map(toSessionChoice);
};

/** The name that was given, or one like it that is free, if it is taken and the person agrees; empty where none was given, nothing where the person does not agree. */
async function resolveNewName(
  args: string,
  { conversation: talk, ui: face, notify: say, signal }: CommandContext,
): Promise<string | undefined> {
  if (args.trim() === '') return '';
  const name = normalizeSessionName(args);
  const isTaken = (each: string): boolean =>
    each !== talk.name && existsSync(sessionFilePath(talk.settings.dirs, each));
  const free = findFreeName(name, isTaken);
  if (free === name) return name;
  const key = await face.askKey(
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
  if (key !== 'y') say('Nothing was changed.');
  return key === 'y' ? free : undefined;
}

async function resumeSession(args: string, desk: CommandContext): Promise<void> {
  const { conversation: talk, ui: face, notify: say, signal } = desk;
  const choices = await sessionChoices('', { conversation: talk });
  if (choices.length === 0 && !args.trim()) return say('There is no other session yet.');
  const which = args.trim() || (await face.pick('Resume which session?', choices, signal));
  if (!which) return say(`Still in "${talk.name}".`);
  await talk.switchSession({ type: 'resume', session: which });
  say(`Resumed "${talk.name}".`);
  return resumeOpenRun(desk);
}

const ephemeralNotice = 'This session is kept nowhere (--ephemeral).';

const sessionSubcommands: Readonly<Record<string, SessionSubcommand>> = {
  new: {
    description: 'begin one with no history, named by date and time',
    argumentHint: '<name>',
    async run(args, desk) {
      const { conversation: talk, ui: face, notify: say } = desk;
      const name = await resolveNewName(args, desk);
      if (name === undefined) return;
      await talk.switchSession({ type: 'new', ...(name ? { name } : {}) });
      face.clear();
      say(`A new session: "${talk.name}".`);
    },
  },
  rename: {
    description: 'rename this one',
    argumentHint: '<name>',
    async run(args, desk) {
      const { conversation: talk, refreshStatus: refresh, notify: say } = desk;
      if (talk.file === undefined) return say(`${ephemeralNotice} It has no name to change.`, 'warning');
      if (!args.trim()) return say('Rename it to what? /session rename <name>', 'warning');
      const old = talk.name;
      const name = await resolveNewName(args, desk);
      if (name === undefined) return undefined;
      await talk.rename(name);
      refresh();
      return say(`"${old}" is now "${talk.name}".`);
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
      const { conversation: talk, notify: say } = desk;
      if (talk.file === undefined) return say(`${ephemeralNotice} There is nothing to copy it from.`, 'warning');
      const old = talk.name;
      const name = await resolveNewName(args, desk);
      if (name === undefined) return undefined;
      await talk.switchSession({ type: 'clone', session: old, ...(name ? { name } : {}) });
      return say(`A copy of "${old}": "${talk.name}". The original stays as it was.`);
    },
  },
  'show-messages': {
    description: 'print every message',
    async run(_, { conversation: talk, showPage: page }) {
      const { messages } = await readTranscript(talk.session.log);
      page(formatSessionTranscript(messages) || 'There are no messages yet.', talk.name);
    },
  },
  edit: {
    description: 'edit the messages in your editor; what you save is a new branch',
    async run(_, { conversation: talk, ui: face, notify: say, signal }) {
      const outcome = await editSession(talk.session, { ui: face, signal });
      if (outcome.type !== 'edited') return say(outcome.message);
      talk.notifyMoved();
      for (const notice of outcome.notices) say(notice, 'warning');
      return say('Saved as a new branch; /tree shows the old one.');
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
      return Object.entries(sessionSubcommands).map(([name, { description: about, argumentHint: takes }]) => ({
        value: `${name}${takes === undefined ? '' : ' '}`,
        label: name,
        description: about,
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
        ([name, { description: about, argumentHint: takes = '' }]) => `/session ${name} ${takes}`.padEnd(28) + about,
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
