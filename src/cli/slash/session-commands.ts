// Commands about sessions: begin, name, resume, copy, look at and edit them.
import { existsSync } from 'node:fs';
import { sessionChoice } from '../conversation/session-choice.ts';
import { editSession } from '../editing/index.ts';
import { everythingSaid, freeName, listSessions, sessionFile, tidyName, transcriptText } from '../sessions/index.ts';
import type { Desk, SlashCommand } from './desk.ts';
import { goOn } from './unfinished.ts';

type Verb = {
  readonly about: string;
  readonly takes?: string;
  run(args: string, desk: Desk): Promise<void> | void;
  complete?: SlashCommand['complete'];
};

const sessionChoices: NonNullable<SlashCommand['complete']> = (_, { talk }) => {
  const others = listSessions(talk.settings.dirs).filter(({ name }) => name !== talk.name);
  return others.map(sessionChoice);
};

/** The name that was given, or one like it that is free, if it is taken and the person agrees; empty where none was given, nothing where the person does not agree. */
async function nameFor(args: string, { talk, face, say, signal }: Desk): Promise<string | undefined> {
  if (args.trim() === '') return '';
  const name = tidyName(args);
  const isTaken = (each: string): boolean => each !== talk.name && existsSync(sessionFile(talk.settings.dirs, each));
  const free = freeName(name, isTaken);
  if (free === name) return name;
  const key = await face.ask(
    {
      title: `There is already a session named "${name}". Call this one "${free}"?`,
      keys: [
        { key: 'y', label: 'yes' },
        { key: 'n', label: 'no' },
      ],
      otherwise: 'n',
    },
    signal,
  );
  if (key !== 'y') say('Nothing was changed.');
  return key === 'y' ? free : undefined;
}

async function resume(args: string, desk: Desk): Promise<void> {
  const { talk, face, say, signal } = desk;
  const choices = await sessionChoices('', { talk });
  if (choices.length === 0 && !args.trim()) return say('There is no other session yet.');
  const which = args.trim() || (await face.pick('Resume which session?', choices, signal));
  if (!which) return say(`Still in "${talk.name}".`);
  await talk.go({ type: 'resume', session: which });
  say(`Resumed "${talk.name}".`);
  return goOn(desk);
}

const keptNowhere = 'This session is kept nowhere (--ephemeral).';

const verbs: Readonly<Record<string, Verb>> = {
  new: {
    about: 'begin one with no history, named by date and time',
    takes: '<name>',
    async run(args, desk) {
      const { talk, face, say } = desk;
      const name = await nameFor(args, desk);
      if (name === undefined) return;
      await talk.go({ type: 'new', ...(name ? { name } : {}) });
      face.clear();
      say(`A new session: "${talk.name}".`);
    },
  },
  rename: {
    about: 'rename this one',
    takes: '<name>',
    async run(args, desk) {
      const { talk, refresh, say } = desk;
      if (talk.file === undefined) return say(`${keptNowhere} It has no name to change.`, 'warning');
      if (!args.trim()) return say('Rename it to what? /session rename <name>', 'warning');
      const old = talk.name;
      const name = await nameFor(args, desk);
      if (name === undefined) return undefined;
      await talk.rename(name);
      refresh();
      return say(`"${old}" is now "${talk.name}".`);
    },
  },
  resume: { about: 'go on with another one', takes: '<name>', run: resume, complete: sessionChoices },
  clone: {
    about: 'copy this one and go on with the copy',
    takes: '<name>',
    async run(args, desk) {
      const { talk, say } = desk;
      if (talk.file === undefined) return say(`${keptNowhere} There is nothing to copy it from.`, 'warning');
      const old = talk.name;
      const name = await nameFor(args, desk);
      if (name === undefined) return undefined;
      await talk.go({ type: 'clone', session: old, ...(name ? { name } : {}) });
      return say(`A copy of "${old}": "${talk.name}". The original stays as it was.`);
    },
  },
  'show-messages': {
    about: 'print every message',
    async run(_, { talk, page }) {
      const { messages } = await everythingSaid(talk.session.log);
      page(transcriptText(messages) || 'There are no messages yet.', talk.name);
    },
  },
  edit: {
    about: 'edit the messages in your editor; what you save is a new branch',
    async run(_, { talk, face, say, signal }) {
      const outcome = await editSession(talk.session, { face, signal });
      if (outcome.type !== 'edited') return say(outcome.why);
      talk.moved();
      for (const notice of outcome.notices) say(notice, 'warning');
      return say('Saved as a new branch; /tree shows the old one.');
    },
  },
};

const session: SlashCommand = {
  name: 'session',
  about: Object.keys(verbs).join(', '),
  takes: '<verb>',
  async complete(args, desk) {
    const space = args.indexOf(' ');
    if (space < 0)
      return Object.entries(verbs).map(([name, { about, takes }]) => ({
        value: `${name}${takes === undefined ? '' : ' '}`,
        label: name,
        about,
      }));
    const verb = args.slice(0, space);
    const choices = Object.hasOwn(verbs, verb) ? await verbs[verb]?.complete?.(args.slice(space + 1), desk) : [];
    return (choices ?? []).map((choice) => ({ ...choice, value: `${verb} ${choice.value}` }));
  },
  async run(args, desk) {
    const [, word = '', rest = ''] = /^(\S*)\s*([^]*)$/.exec(args.trim()) ?? [];
    const verb = Object.hasOwn(verbs, word) ? verbs[word] : undefined;
    if (!verb) {
      const lines = Object.entries(verbs).map(
        ([name, { about, takes = '' }]) => `/session ${name} ${takes}`.padEnd(28) + about,
      );
      return desk.page(lines.join('\n'), word ? `There is no /session ${word}; there are:` : '/session');
    }
    return verb.run(rest, desk);
  },
};

const again: SlashCommand = {
  name: 'resume',
  about: 'go on with another session',
  takes: '<name>',
  complete: sessionChoices,
  run: resume,
};

const save: SlashCommand = {
  name: 'save',
  about: 'say where this session is kept; with a name, rename it',
  takes: '<name>',
  async run(args, desk) {
    if (desk.talk.file === undefined) return desk.say(keptNowhere);
    if (args.trim()) await verbs['rename']?.run(args, desk);
    return desk.say(`Every step is already kept in ${desk.talk.file}`);
  },
};

const clear: SlashCommand = {
  name: 'clear',
  about: 'an empty conversation on an empty screen; the old one is kept',
  run: (_, desk) => verbs['new']?.run('', desk),
};

/** Commands about sessions. */
export const sessionCommands: readonly SlashCommand[] = [session, again, save, clear];
