// Slash commands on the history of a session: rewind, switch branches, undo, compact, export.
import {
  branchesOf,
  formatBranchTree,
  listUserTurns,
  previewText,
  rewindBefore,
  selectShownBranches,
} from '../../sessions/reports/index.ts';
import { compactCommand } from './compact-command.ts';
import type { CommandContext, SlashCommand } from './slash-command.ts';
import { exportCommand } from './export-command.ts';
import { undoCommand } from './undo-command.ts';

const rewindCommand: SlashCommand = {
  name: 'rewind',
  description: 'go back to before an earlier message; the messages after it stay as a branch',
  run: (_, context) => pickRewindTarget(context),
};

const treeCommand: SlashCommand = {
  name: 'tree',
  description: 'list the branches of this session; with a number, switch to that branch',
  argumentHint: '<number>',
  async run(args, { conversation, showPage, notify }) {
    const branches = branchesOf(await conversation.events());
    if (!args.trim()) return showPage(formatBranchTree(branches), 'Branches: /tree <number> switches to one');
    const branch = selectShownBranches(branches).find(({ number }) => String(number) === args.trim());
    if (!branch) return notify(`There is no branch ${args.trim()}: /tree lists them.`, 'warning');
    if (branch.current) return notify('That is the branch you are on.');
    await conversation.session.rewind(branch.tip, 'returned');
    conversation.notifyMoved();
    return notify(`Back on branch ${branch.number}.`);
  },
};

/** Lets the user pick an earlier message; the session branches before it, and its text is put into the input field. */
export async function pickRewindTarget({ conversation, ui, notify, signal }: CommandContext): Promise<void> {
  const turns = listUserTurns(await conversation.events());
  if (turns.length === 0) return notify('There is no earlier message yet.');
  const choices = turns
    .map(({ text, time }, i) => ({
      value: String(i),
      label: previewText(text, 200) || '(no text)',
      description: time.slice(0, 16).replace('T', ' '),
    }))
    .toReversed();
  const picked = await ui.pick('Go back to before which message? What follows it stays as a branch.', choices, signal);
  const turn = picked === undefined ? undefined : turns[Number(picked)];
  if (!turn) return notify('Nothing was changed.');
  await rewindBefore(conversation.session, turn);
  conversation.notifyMoved();
  notify('Back at that point. The old branch is kept: /tree shows it.');
  return ui.setInput(turn.text);
}

/** The slash commands on the history of a session. */
export const historyCommands: readonly SlashCommand[] = [
  rewindCommand,
  treeCommand,
  undoCommand,
  compactCommand,
  exportCommand,
];
