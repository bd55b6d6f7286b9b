// `/compact`: makes the conversation shorter by hand, shows what a compaction changed, and takes it back.
import { FairleadError } from '../../core/index.ts';
import { compactionDiff } from '../../rules/index.ts';
import { lastCompaction } from '../../sessions/reports/index.ts';
import type { CommandContext, SlashCommand } from './context.ts';

const diffTitle = 'What the compaction kept (=), took out (-) and put in its place (+)';

/** The command that compacts. */
export const compactCommand: SlashCommand = {
  name: 'compact',
  description: 'make the conversation shorter; diff shows how, undo takes it back',
  argumentHint: '<focus>|diff|undo',
  complete: () => [
    { value: 'diff', label: 'diff', description: 'what the last compaction changed' },
    { value: 'undo', label: 'undo', description: 'go back to before the last compaction' },
  ],
  run(args, desk) {
    const words = args.trim();
    if (words === 'diff') return showLastCompaction(desk);
    return words === 'undo' ? undoLastCompaction(desk) : compactNow(words, desk);
  },
};

async function compactNow(focus: string, { conversation, showPage, signal }: CommandContext): Promise<void> {
  const { seq } = conversation.session.state;
  try {
    const { diff } = await conversation.session.compact({ signal, ...(focus ? { focus } : {}) });
    showPage(diff, diffTitle);
  } catch (error) {
    // A refusal that cost something stands in the log and was told from there.
    const told = error instanceof FairleadError && error.code === 'session/not-compacted';
    if (!told || conversation.session.state.seq === seq) throw error;
  }
}

async function showLastCompaction({ conversation, showPage, notify }: CommandContext): Promise<void> {
  const last = lastCompaction(await conversation.events());
  if (!last) return notify('This conversation was not compacted.');
  return showPage(compactionDiff(last.before, last.after), diffTitle);
}

async function undoLastCompaction({ conversation, notify }: CommandContext): Promise<void> {
  const last = lastCompaction(await conversation.events());
  if (!last) return notify('This conversation was not compacted.');
  await conversation.session.rewind(last.undoEvent, 'returned');
  conversation.notifyMoved();
  const left = last.messagesSince > 0 ? ' What was said since is on a branch of its own: /tree shows it.' : '';
  return notify(`The conversation is as it was before it was compacted.${left}`);
}
