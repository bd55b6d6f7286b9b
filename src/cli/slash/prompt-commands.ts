// Commands that bring words from elsewhere: an editor, or a file of prompts.
import { editPrompt } from '../editing/index.ts';
import { listPrompts, readPrompt } from '../prompts.ts';
import type { SlashCommand } from './desk.ts';

const editor: SlashCommand = {
  name: 'editor',
  about: 'write the message in your editor before it is sent',
  takes: '<text>',
  async run(args, { face, say, signal, converse }) {
    const outcome = await editPrompt(args, { face, signal });
    if (outcome.type !== 'edited') return say(outcome.why);
    return converse(outcome.text);
  },
};

const promptFile: SlashCommand = {
  name: 'promptfile',
  about: 'send a prompt from your prompts folder',
  takes: '<path>',
  complete: (_, { talk }) => listPrompts(talk.settings.dirs.data).map((value) => ({ value, label: value })),
  async run(args, { talk, face, say, signal, converse }) {
    const { data } = talk.settings.dirs;
    const names = listPrompts(data);
    if (names.length === 0 && !args.trim()) return say(`There are no prompts in ${data}/prompts yet.`);
    const name =
      args.trim() ||
      (await face.pick(
        'Which prompt?',
        names.map((value) => ({ value, label: value })),
        signal,
      ));
    if (!name) return say('Nothing was sent.');
    return converse(readPrompt(data, name));
  },
};

/** Commands that bring words from elsewhere. */
export const promptCommands: readonly SlashCommand[] = [editor, promptFile];
