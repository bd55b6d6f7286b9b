// Slash commands that take a prompt from an editor or a prompt file.
import { editPrompt } from '../editor/index.ts';
import { listPromptFiles, readSavedPrompt } from '../../coding-agent/prompts/index.ts';
import type { SlashCommand } from './slash-command.ts';

const editorCommand: SlashCommand = {
  name: 'editor',
  description: 'write the message in your editor before it is sent',
  argumentHint: '<text>',
  async run(args, { conversation, ui, notify, signal, runAgent }) {
    const { needsTmux } = conversation.settings;
    const outcome = await editPrompt(args, { ui, signal, needsTmux });
    if (outcome.type !== 'edited') return notify(outcome.message);
    return runAgent(outcome.text);
  },
};

const promptFileCommand: SlashCommand = {
  name: 'promptfile',
  description: 'send a prompt from your prompts directory',
  argumentHint: '<path>',
  complete: (_, { conversation }) =>
    listPromptFiles(conversation.settings.dirs.data).map((value) => ({ value, label: value })),
  async run(args, { conversation, ui, notify, signal, runAgent }) {
    const { data } = conversation.settings.dirs;
    const names = listPromptFiles(data);
    if (names.length === 0 && !args.trim()) return notify(`There are no prompts in ${data}/prompts yet.`);
    const name =
      args.trim() ||
      (await ui.pick(
        'Which prompt?',
        names.map((value) => ({ value, label: value })),
        { signal },
      ));
    if (!name) return notify('Nothing was sent.');
    return runAgent(readSavedPrompt(data, name));
  },
};

/** The slash commands that take a prompt from an editor or a file. */
export const promptCommands: readonly SlashCommand[] = [editorCommand, promptFileCommand];
