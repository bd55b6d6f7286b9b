// Commands about what has happened: branches, going back, undoing, compacting, exporting.
import { branchesOf, shownBranches, treeText } from '../branches/index.ts';
import { goBackByPick } from '../chat/going-back.ts';
import { compact } from './compact.ts';
import type { SlashCommand } from './desk.ts';
import { exportCommand } from './export.ts';
import { undo } from './undo.ts';

const rewind: SlashCommand = {
  name: 'rewind',
  about: 'go back to before an earlier message; what follows stays as a branch',
  run: (_, desk) => goBackByPick(desk),
};

const tree: SlashCommand = {
  name: 'tree',
  about: 'the branches of this session; with a number, return to that one',
  takes: '<number>',
  async run(args, { talk, page, say }) {
    const branches = branchesOf(await talk.events());
    if (!args.trim()) return page(treeText(branches), 'Branches: /tree <number> returns to one');
    const wanted = shownBranches(branches).find(({ number }) => String(number) === args.trim());
    if (!wanted) return say(`There is no branch ${args.trim()}: /tree lists them.`, 'warning');
    if (wanted.current) return say('That is the branch you are on.');
    await talk.session.rewind(wanted.tip, 'returned');
    talk.moved();
    return say(`Back on branch ${wanted.number}.`);
  },
};

/** Commands about what has happened. */
export const historyCommands: readonly SlashCommand[] = [rewind, tree, undo, compact, exportCommand];
