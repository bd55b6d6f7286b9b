// Commands that bring words from elsewhere: an editor, or a file of prompts.
import { editPrompt } from '../editor/index.ts';
import { listPromptFiles, readSavedPrompt } from '../state/prompt-files.ts';
import type { SlashCommand } from './context.ts';

const editorCommand: SlashCommand = {
  name: 'editor',
  description: 'write the message in your editor before it is sent',
  argumentHint: '<text>',
  async run(args, { ui: face, notify: say, signal, runAgent: converse }) {
    const outcome = await editPrompt(args, { ui: face, signal });
    if (outcome.type !== 'edited') return say(outcome.message);
    return converse(outcome.text);
  },
};

const promptFileCommand: SlashCommand = {
  name: 'promptfile',
  description: 'send a prompt from your prompts folder',
  argumentHint: '<path>',
  complete: (_, { conversation: talk }) =>
    listPromptFiles(talk.settings.dirs.data).map((value) => ({ value, label: value })),
  async run(args, { conversation: talk, ui: face, notify: say, signal, runAgent: converse }) {
    const { data } = talk.settings.dirs;
    const names = listPromptFiles(data);
    if (names.length === 0 && !args.trim()) return say(`There are no prompts in ${data}/prompts yet.`);
    const name =
      args.trim() ||
      (await face.pick(
        'Which prompt?',
        names.map((value) => ({ value, label: value })),
        signal,
      ));
    if (!name) return say('Nothing was sent.');
    return converse(readSavedPrompt(data, name));
  },
};

/** Commands that bring words from elsewhere. */
export const promptCommands: readonly SlashCommand[] = [editorCommand, promptFileCommand];
