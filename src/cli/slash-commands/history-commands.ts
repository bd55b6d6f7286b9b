// Slash commands on the history of a session: rewind, fork, switch branches, undo, compact, export, copy.
import { branchesOf, formatBranchTree, selectShownBranches } from '../../sessions/reports/index.ts';
import { compactCommand } from './compact-command.ts';
import { copyCommand } from './copy-command.ts';
import { forkCommand, rewindCommand } from './rewind-command.ts';
import type { SlashCommand } from './slash-command.ts';
import { exportCommand } from './export-command.ts';
import { undoCommand } from './undo-command.ts';

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
    await conversation.notifyMoved();
    return notify(`Back on branch ${branch.number}.`);
  },
};

/** The slash commands on the history of a session. */
export const historyCommands: readonly SlashCommand[] = [
  rewindCommand,
  forkCommand,
  treeCommand,
  undoCommand,
  compactCommand,
  exportCommand,
  copyCommand,
];
