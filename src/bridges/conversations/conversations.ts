// Many conversations at once, each with its guide: recognised by how they begin, bounded in number, found again after a restart.
import type { Message } from '../../core/index.ts';
import type { Reading } from '../dialects/dialect.ts';
import { markAfter, marksOf } from '../guide/given.ts';
import { openGuide, type Guidance, type Guide, type GuideOptions } from '../guide/guide.ts';
import { indexFile } from './index-file.ts';
import { beginAs, checkedName, logsIn } from './logs.ts';
import { namedAnswers } from './named-answers.ts';
import { recognition, type Kept } from './recognising.ts';

/** How conversations are guided and kept. */
export type ConversationOptions = Omit<GuideOptions, 'log' | 'session'> & {
  /** A folder for session files; without one everything is kept in memory, and no longer than the guide is open. */
  readonly folder?: string;
  /** How many guides may be open at once; the one that rested longest is closed first. 64 unless given. */
  readonly most?: number;
};

/** One request of a conversation, from the question whether it may be sent to the answer that the caller was given. */
export type Talk = {
  readonly guide: Guide;
  readonly guidance: Guidance;
  /** How many of the messages that the guide knows are not part of this request, because the provider keeps them. */
  readonly before: number;
  /** The caller is given this answer, which the provider may have a name for. */
  passed(message: Message, name?: string): void;
  /** The request is over. */
  done(): void;
};

/** All conversations of one client or proxy. */
export type Conversations = {
  /** Finds or begins the conversation of a request, and asks its guide. */
  ask(reading: Reading, session?: string): Promise<Talk>;
  close(): Promise<void>;
};

type Claim = { readonly kept: Kept; readonly from: number; readonly done: () => void };

/** Opens a place for conversations. */
export function openConversations({ folder, most = 64, ...options }: ConversationOptions = {}): Conversations {
  const index = folder === undefined ? undefined : indexFile(folder);
  const openLog = logsIn(folder);
  const known = recognition();
  const guides = new Map<Kept, Promise<Guide>>();
  const named = new Map<string, Kept>();
  const closing = new Map<Kept, Promise<void>>();
  const answers = namedAnswers();
  for (const { id, marks, tip, answers: given } of index?.beginnings ?? []) {
    const kept: Kept = { id, marks, tip, answers: new Map(given), busy: undefined };
    if (id.startsWith('named-')) named.set(id, kept);
    else known.add(kept);
  }

  const newKept = (id: string): Kept => ({ id, marks: [], tip: undefined, answers: new Map(), busy: undefined });

  function guideOf(kept: Kept, open: () => Promise<Guide>): Promise<Guide> {
    const guide = guides.get(kept) ?? open();
    // The one that was used last stands last.
    guides.delete(kept);
    guides.set(kept, guide);
    guide.catch(() => guides.delete(kept));
    return guide;
  }

  const opened = (kept: Kept): Promise<Guide> =>
    guideOf(kept, async () => {
      await closing.get(kept);
      return openGuide({ ...options, log: await openLog(kept.id), session: kept.id });
    });

  const openedLike = (kept: Kept, like: Kept, after: number, answered: boolean): Promise<Guide> =>
    guideOf(kept, async () => {
      const source = await opened(like);
      const at = (answered ? like.answers.get(after) : undefined) ?? source.known(after);
      const log = await openLog(kept.id);
      if (at !== undefined) await beginAs(source.log, at, log, kept.id);
      return openGuide({ ...options, log, session: kept.id });
    });

  /** Closes those that rested longest. Nobody waits for it but who wants the same one again. */
  function makeRoom(): void {
    for (const [kept, guide] of guides) {
      if (guides.size <= most) return;
      if (kept.busy) continue;
      guides.delete(kept);
      if (!index) {
        known.drop(kept);
        named.delete(kept.id);
      }
      const closed = guide.then((each) => each.close()).catch(() => undefined);
      closing.set(kept, closed);
      void closed.then(() => closing.delete(kept));
    }
  }

  /** Takes a conversation for a request. Nothing may be awaited between finding it and this, or two requests would take it. */
  function claim(kept: Kept, marks: readonly number[], recognised: boolean): Claim {
    const { promise, resolve } = Promise.withResolvers<void>();
    known.drop(kept);
    const other = kept.marks.findIndex((mark, i) => mark !== marks[i]);
    const from = other < 0 ? Math.min(kept.marks.length, marks.length) : other;
    Object.assign(kept, { marks, tip: undefined, busy: promise });
    if (recognised) known.add(kept);
    const done = (): void => {
      kept.busy = undefined;
      resolve();
    };
    return { kept, from, done };
  }

  /** The conversation by its beginning. */
  async function find(
    messages: readonly (Message | null)[],
    marks: readonly number[],
  ): Promise<Claim & { readonly opening: Promise<Guide> }> {
    for (;;) {
      const match = known.match(marks, messages);
      if (match.type === 'wait') {
        await match.kept.busy;
        continue;
      }
      const kept = match.type === 'goes-on' ? match.kept : newKept(crypto.randomUUID());
      const claimed = claim(kept, marks, true);
      if (match.type !== 'parts') return { ...claimed, opening: opened(kept) };
      const answered = messages[match.after]?.role === 'assistant';
      return { ...claimed, opening: openedLike(kept, match.kept, match.after, answered) };
    }
  }

  /** The conversation that a caller has a name for: one request after the other. */
  async function byName(id: string, marks: readonly number[]): Promise<Claim & { readonly opening: Promise<Guide> }> {
    const kept = named.get(id) ?? newKept(id);
    named.set(id, kept);
    while (kept.busy) await kept.busy;
    return { ...claim(kept, marks, false), opening: opened(kept) };
  }

  return {
    async ask(reading, session) {
      const earlier = answers.get(reading.follows);
      const messages = [...(earlier ?? []), ...reading.messages];
      const marks = marksOf(messages);
      const found = session === undefined ? find(messages, marks) : byName(checkedName(session), marks);
      const { kept, from, done, opening } = await found;
      try {
        const guide = await opening;
        makeRoom();
        const guidance = await guide.before({ ...reading, messages, marks });
        if (reading.follows !== undefined && !earlier) await guide.remark('guide/unseen', reading.follows);
        index?.asked(kept.id, from, marks);
        return {
          guide,
          guidance,
          before: earlier?.length ?? 0,
          passed(message, name) {
            const at = guide.state.head ?? '';
            kept.tip = markAfter(marks.at(-1) ?? 0, message);
            kept.answers.set(marks.length, at);
            if (session === undefined) known.add(kept);
            index?.answered(kept.id, kept.tip, at);
            if (name !== undefined) answers.set(name, [...messages, message]);
          },
          done,
        };
      } catch (error) {
        // What it holds in mind may not be what is written: it is opened again from its log.
        guides.delete(kept);
        await opening.then((guide) => guide.close()).catch(() => undefined);
        done();
        throw error;
      }
    },
    async close() {
      const open = [...guides.values()].map((guide) => guide.then((each) => each.close()).catch(() => undefined));
      guides.clear();
      await Promise.all([...open, ...closing.values()]);
    },
  };
}
