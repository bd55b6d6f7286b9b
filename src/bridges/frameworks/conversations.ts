// Where the conversations of a framework's bridge are: many that are told apart, or the one of a log or of an open guide.
import { createHash } from 'node:crypto';
import type { Log } from '../../core/index.ts';
import { openConversations, type ConversationOptions, type Conversations } from '../conversations/conversations.ts';
import { namedAnswers } from '../conversations/named-answers.ts';
import { openGuide, type Guide } from '../guide/guide.ts';

/** What a framework's bridge goes by. */
export type BridgeOptions = ConversationOptions & {
  /** The log of the one conversation that passes through here. Without it there may be many, told apart by how they begin. */
  readonly log?: Log;
  /** A guide that is open already: then everything belongs to its conversation, and the other options are not looked at. */
  readonly guide?: Guide;
  /** Conversations that are open already, to be closed by who opened them. */
  readonly conversations?: Conversations;
};

/** The conversations that pass through a bridge. */
export function conversationsOf({ log, guide, conversations, ...options }: BridgeOptions): Conversations {
  if (conversations) return conversations;
  if (guide) return onlyOne(() => Promise.resolve(guide));
  if (!log) return openConversations(options);
  let opened: Promise<Guide> | undefined;
  return onlyOne(() => (opened ??= openGuide({ ...options, log })));
}

/** Whether answers are looked at as a whole: then their words wait too, and the caller sees only what passed. */
export const looksAtAnswers = ({ checks }: BridgeOptions): boolean => (checks?.length ?? 0) > 0;

/** A framework's name for a conversation as one that a file may have; nothing where it is none. */
export function nameOf(told: unknown): string | undefined {
  if (typeof told !== 'string' || told === '') return undefined;
  return /^[\w-][\w.-]{0,99}$/.test(told) ? told : `id-${createHash('sha256').update(told).digest('hex').slice(0, 40)}`;
}

/** One conversation: what begins otherwise is a branch of it. Requests come one after the other. */
function onlyOne(open: () => Promise<Guide>): Conversations {
  let busy = Promise.resolve();
  const answers = namedAnswers();
  return {
    async ask(reading) {
      const before = busy;
      const { promise, resolve } = Promise.withResolvers<void>();
      busy = promise;
      await before;
      try {
        const guide = await open();
        const earlier = answers.get(reading.follows) ?? [];
        const messages = [...earlier, ...reading.messages];
        return {
          guide,
          guidance: await guide.before({ ...reading, messages }),
          before: earlier.length,
          passed: (message, name) => (name === undefined ? undefined : answers.set(name, [...messages, message])),
          done: resolve,
        };
      } catch (error) {
        resolve();
        throw error;
      }
    },
    close: () => open().then((guide) => guide.close()),
  };
}
