// The slash command /compact: compacts the conversation, shows what the last compaction changed, and undoes it.
import { FairleadError } from '../../core/index.ts';
import { compactionDiff } from '../../rules/index.ts';
import { lastCompaction } from '../../sessions/reports/index.ts';
import type { CommandContext, SlashCommand } from './slash-command.ts';

const diffTitle = 'Compaction: kept (=), removed (-), added (+)';

/** The slash command `/compact`. */
export const compactCommand: SlashCommand = {
  name: 'compact',
  description: 'compact the conversation; diff shows the changes, undo reverts them',
  argumentHint: '<focus>|diff|undo',
  complete: () => [
    { value: 'diff', label: 'diff', description: 'what the last compaction changed' },
    { value: 'undo', label: 'undo', description: 'go back to before the last compaction' },
  ],
  run(args, context) {
    const focus = args.trim();
    if (focus === 'diff') return showLastCompaction(context);
    return focus === 'undo' ? undoLastCompaction(context) : compactNow(focus, context);
  },
};

async function compactNow(focus: string, { conversation, showPage, notify, signal }: CommandContext): Promise<void> {
  const { seq } = conversation.session.state;
  try {
    const { diff } = await conversation.session.compact({ signal, ...(focus ? { focus } : {}) });
    showPage(diff, diffTitle);
    notify(
      `The next request has about ${conversation.session.state.context} tokens, with the system prompt and the tools; the status line shows this estimate until the next answer.`,
    );
  } catch (error) {
    // A refusal after a model call is recorded in the log, and was already shown from there.
    const refused = error instanceof FairleadError && error.code === 'session/not-compacted';
    if (!refused || conversation.session.state.seq === seq) throw error;
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
  await conversation.notifyMoved();
  const branch = last.messagesSince > 0 ? ' The messages since then are on a separate branch: /tree shows it.' : '';
  return notify(`The conversation is as it was before the compaction.${branch}`);
}
