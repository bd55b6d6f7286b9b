// The slash command /copy: copies the last answer, or one of its code blocks, to the clipboard.
import { messageText } from '../../core/index.ts';
import { readTranscript } from '../../sessions/index.ts';
import type { SlashCommand } from './slash-command.ts';

const fencePattern = /^ {0,3}(`{3,}|~{3,})[^\n]*\n([^]*?)^ {0,3}\1[`~]*[ \t]*$/gm;

/** The slash command `/copy`. */
export const copyCommand: SlashCommand = {
  name: 'copy',
  description: 'copy the last answer to the clipboard; with code, its last code block, or the one with this number',
  argumentHint: 'code <number>',
  allowedDuringRun: true,
  complete: () => [{ value: 'code', label: 'code', description: 'the last code block' }],
  async run(args, { conversation, notify }) {
    // After a compaction the messages of the next request begin with a replacement of the earlier ones.
    const { messages } = await readTranscript(conversation.session.log);
    const answer = messages.findLast((message) => message.role === 'assistant' && messageText(message).trim() !== '');
    if (!answer) return notify('There is no answer to copy yet.');
    const [, code, number] = /^(code)?\s*(\d*)$/.exec(args.trim()) ?? [];
    if (args.trim() && code === undefined) return notify('Usage: /copy, /copy code or /copy code <number>', 'warning');
    const blocks = [...messageText(answer).matchAll(fencePattern)].map(([, , text = '']) => text);
    const text = code === undefined ? messageText(answer) : number ? blocks[Number(number) - 1] : blocks.at(-1);
    if (text === undefined)
      return notify(
        blocks.length === 0
          ? 'The last answer has no code block.'
          : `The last answer has ${blocks.length} code block${blocks.length === 1 ? '' : 's'}.`,
        'warning',
      );
    const { copyToClipboard } = await import('./clipboard.ts');
    const taken = await copyToClipboard(text, conversation.agent.workspace.cwd);
    if (taken.length === 0)
      return notify('There is no clipboard here: no terminal, and no wl-copy, xclip, xsel, pbcopy or tmux.', 'warning');
    return notify(
      `Copied ${text.length} characters (${taken.join(', ')})${taken.length === 1 && taken[0] === 'terminal' ? '. Some terminals ignore this unless it is allowed' : ''}.`,
    );
  },
};
