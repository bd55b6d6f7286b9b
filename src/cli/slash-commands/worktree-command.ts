// The slash command /worktree: lists and shows the worktrees of this repository, and merges or discards them after a question.
import type { Worktrees } from '../../coding-agent/worktrees/index.ts';
import type { CommandContext, SlashCommand } from './slash-command.ts';

type Subcommand = (worktrees: Worktrees, name: string, context: CommandContext) => Promise<void>;

const load = () => import('../../coding-agent/worktrees/index.ts');

/** The slash command `/worktree`. */
export const worktreeCommand: SlashCommand = {
  name: 'worktree',
  description: 'list, show, merge or discard the worktrees of agents and runs',
  argumentHint: '[show|merge|discard <name>]',
  async run(args, context) {
    const [verb = 'list', name = '', ...more] = args.split(/\s+/).filter((word) => word !== '');
    const subcommand = Object.hasOwn(subcommands, verb) ? subcommands[verb] : undefined;
    if (!subcommand || more.length > 0 || (verb === 'list') !== (name === ''))
      return context.notify('Usage: /worktree, or /worktree show, merge or discard with the name of one.', 'warning');
    await subcommand((await load()).openUserWorktrees(context.conversation.settings), name, context);
  },
};

const subcommands: Readonly<Record<string, Subcommand>> = {
  async list(worktrees, _, { conversation, showPage }) {
    const { formatWorktrees } = await load();
    showPage(formatWorktrees(await worktrees.list(conversation.agent.workspace.cwd)), 'Worktrees');
  },
  async show(worktrees, name, { conversation, showPage }) {
    const { formatWorktree } = await load();
    const query = { cwd: conversation.agent.workspace.cwd };
    const content = formatWorktree(await worktrees.inspect(name, query));
    showPage(`${content}\n\n${await worktrees.diff(name, query)}`, 'Worktree');
  },
  async merge(worktrees, name, context) {
    const { formatMergeOutcome, formatMergePlan } = await load();
    const query = { cwd: context.conversation.agent.workspace.cwd, signal: context.signal };
    const planned = await worktrees.merge(name, { ...query, dryRun: true });
    const isConflict = planned.status === 'conflicts';
    if (isConflict) context.showPage(formatMergeOutcome(planned, '/worktree'), 'Conflicts');
    else if (planned.status !== 'planned')
      return context.showPage(formatMergeOutcome(planned, '/worktree'), 'Worktree');
    const isConfirmed = isConflict
      ? await ask(context, 'Write these files with conflict markers?', '')
      : await ask(
          context,
          `Merge ${name} into ${planned.content.record.checkout}?`,
          formatMergePlan(planned.plan, planned.content),
        );
    if (!isConfirmed) return context.notify('Nothing was changed.');
    const outcome = await worktrees.merge(name, { ...query, ...(isConflict ? { keepConflicts: true } : {}) });
    context.showPage(formatMergeOutcome(outcome, '/worktree'), 'Worktree');
  },
  async discard(worktrees, name, context) {
    const { formatDiscarded, formatWorktree } = await load();
    const query = { cwd: context.conversation.agent.workspace.cwd, signal: context.signal };
    const detail = await worktrees.inspect(name, query).then(formatWorktree, String);
    if (!(await ask(context, `Discard ${name} with all its changes?`, detail)))
      return context.notify('Nothing was changed.');
    context.showPage(formatDiscarded(await worktrees.discard(name, query)), 'Worktree');
  },
};

async function ask({ ui, signal }: CommandContext, title: string, detail: string): Promise<boolean> {
  const keys = [
    { key: 'y', label: 'yes' },
    { key: 'n', label: 'no' },
  ];
  return (await ui.askKey({ title, detail, keys, defaultKey: 'n' }, signal)) === 'y';
}
