// Commands about what has happened: branches, going back, undoing, compacting, exporting.
import { branchesOf, selectShownBranches, formatBranchTree } from '../../sessions/reports/index.ts';
import { pickRewindTarget } from './rewind-picker.ts';
import { compactCommand } from './compact.ts';
import type { SlashCommand } from './context.ts';
import { exportCommand } from './export.ts';
import { undoCommand } from './undo.ts';

const rewindCommand: SlashCommand = {
  name: 'rewind',
  description: 'go back to before an earlier message; what follows stays as a branch',
  run: (_, desk) => pickRewindTarget(desk),
};

const treeCommand: SlashCommand = {
  name: 'tree',
  description: 'the branches of this session; with a number, return to that one',
  argumentHint: '<number>',
  async run(args, { conversation, showPage, notify }) {
    const branches = branchesOf(await conversation.events());
    if (!args.trim()) return showPage(formatBranchTree(branches), 'Branches: /tree <number> returns to one');
    const wanted = selectShownBranches(branches).find(({ number }) => String(number) === args.trim());
    if (!wanted) return notify(`There is no branch ${args.trim()}: /tree lists them.`, 'warning');
    if (wanted.current) return notify('That is the branch you are on.');
    await conversation.session.rewind(wanted.tip, 'returned');
    conversation.notifyMoved();
    return notify(`Back on branch ${wanted.number}.`);
  },
};

/** Commands about what has happened. */
export const historyCommands: readonly SlashCommand[] = [
  rewindCommand,
  treeCommand,
  undoCommand,
  compactCommand,
  exportCommand,
];
