// `/compact`: makes the conversation shorter by hand, shows what a compaction changed, and takes it back.
import { FairleadError } from '../../core/index.ts';
import { compactionDiff } from '../../rules/index.ts';
import { lastCompaction } from '../branches/index.ts';
import type { Desk, SlashCommand } from './desk.ts';

const heading = 'What the compaction kept (=), took out (-) and put in its place (+)';

/** The command that compacts. */
export const compact: SlashCommand = {
  name: 'compact',
  about: 'make the conversation shorter; diff shows how, undo takes it back',
  takes: '<focus>|diff|undo',
  complete: () => [
    { value: 'diff', label: 'diff', about: 'what the last compaction changed' },
    { value: 'undo', label: 'undo', about: 'go back to before the last compaction' },
  ],
  run(args, desk) {
    const words = args.trim();
    if (words === 'diff') return showLast(desk);
    return words === 'undo' ? undoLast(desk) : compactNow(words, desk);
  },
};

async function compactNow(focus: string, { talk, page, signal }: Desk): Promise<void> {
  const { seq } = talk.session.state;
  try {
    const { diff } = await talk.session.compact({ signal, ...(focus ? { focus } : {}) });
    page(diff, heading);
  } catch (error) {
    // A refusal that cost something stands in the log and was told from there.
    const told = error instanceof FairleadError && error.code === 'session/not-compacted';
    if (!told || talk.session.state.seq === seq) throw error;
  }
}

async function showLast({ talk, page, say }: Desk): Promise<void> {
  const last = lastCompaction(await talk.events());
  if (!last) return say('This conversation was not compacted.');
  return page(compactionDiff(last.before, last.after), heading);
}

async function undoLast({ talk, say }: Desk): Promise<void> {
  const last = lastCompaction(await talk.events());
  if (!last) return say('This conversation was not compacted.');
  await talk.session.rewind(last.undo, 'returned');
  talk.moved();
  const left = last.since > 0 ? ' What was said since is on a branch of its own: /tree shows it.' : '';
  return say(`The conversation is as it was before it was compacted.${left}`);
}
