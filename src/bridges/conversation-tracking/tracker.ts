// Tracks many conversations, each with its interceptor: recognized by prefix, bounded in number, restored after a restart.
import { hash53, messageText, type Message } from '../../core/index.ts';
import { unreadableText } from '../../guards/index.ts';
import type { ParsedModelRequest } from '../../wire/index.ts';
import { extendPrefixHash, computePrefixHashes } from '../interceptor/caller-history.ts';
import {
  createInterceptor,
  type InterceptAction,
  type Interceptor,
  type InterceptorOptions,
} from '../interceptor/interceptor.ts';
import { openPrefixIndex } from './prefix-index.ts';
import { copyLogPrefix, isNamedConversation, parseSessionName, createLogOpener } from './logs.ts';
import { createResponseHistoryCache } from './response-history.ts';
import { assertRequestBounds } from './request-bounds.ts';
import { createReplyEcho } from '../caller-flow/reply-echo.ts';
import type { UntrustedText } from '../caller-flow/view.ts';
import { createPrefixMatcher, type KnownConversation, type PrefixMatch } from './prefix-matcher.ts';

/** Options of a conversation tracker. */
export type ConversationTrackerOptions = Omit<InterceptorOptions, 'log' | 'session'> & {
  /** A directory for session files; default: in memory. */
  readonly folder?: string;
  /** Max open interceptors; the least recently used is closed first. Default 64. */
  readonly maxOpen?: number;
};

/** One intercepted request, from the decision to send it to the response. */
export type TrackedRequest = {
  readonly interceptor: Interceptor;
  readonly action: InterceptAction;
  /** Number of known messages that are not in the request because the provider stores them. */
  readonly storedMessages: number;
  /** Records the response that the caller gets, with its id if it has one. */
  markDelivered(message: Message, name?: string): void;
  /** Ends the request. */
  release(): void;
};

/** How a request names its conversation and its caller. */
export type TrackOptions = {
  /** The name that the caller gives to the conversation. */
  readonly session?: string | undefined;
  /** A digest of the caller's key, if several callers share the tracker: conversations of one caller are not found by another. */
  readonly caller?: string | undefined;
};

/** The conversations of one client or proxy. */
export type ConversationTracker = {
  /** Finds or starts the conversation of a request and asks its interceptor. */
  trackRequest(reading: ParsedModelRequest, options?: TrackOptions): Promise<TrackedRequest>;
  close(): Promise<void>;
};

/** A history that only the provider has: its text is not known, so that every value may come from a third party. */
export const unseenHistory: UntrustedText = { text: unreadableText, source: 'a history that the provider keeps' };

type RequestClaim = { readonly conversation: KnownConversation; readonly from: number; readonly release: () => void };

type FoundConversation = RequestClaim & {
  readonly opening: Promise<Interceptor>;
  /** The conversation whose history the caller replaced by this request; `forgotten` if it is not known any more. */
  readonly origin?: KnownConversation | 'forgotten' | undefined;
};

/** Creates a conversation tracker. */
export function createConversationTracker({
  folder,
  maxOpen = 64,
  ...options
}: ConversationTrackerOptions = {}): ConversationTracker {
  const index = folder === undefined ? undefined : openPrefixIndex(folder);
  const openLog = createLogOpener(folder);
  const known = createPrefixMatcher();
  const guides = new Map<KnownConversation, Promise<Interceptor>>();
  const named = new Map<string, KnownConversation>();
  const closing = new Map<KnownConversation, Promise<void>>();
  const answers = createResponseHistoryCache();
  const replies = createReplyEcho();
  const conversations = new Map<string, KnownConversation>();
  for (const { id, marks, tip, answers: given } of index?.conversations ?? []) {
    const kept: KnownConversation = { id, marks, tip, answers: new Map(given), busy: undefined };
    conversations.set(id, kept);
    if (isNamedConversation(id)) named.set(id, kept);
    else known.add(kept);
  }

  function newKept(id: string): KnownConversation {
    const kept: KnownConversation = { id, marks: [], tip: undefined, answers: new Map(), busy: undefined };
    conversations.set(id, kept);
    return kept;
  }

  function guideOf(kept: KnownConversation, open: () => Promise<Interceptor>): Promise<Interceptor> {
    const guide = guides.get(kept) ?? open();
    // Ordered by last use, oldest first.
    guides.delete(kept);
    guides.set(kept, guide);
    guide.catch(() => guides.delete(kept));
    return guide;
  }

  const opened = (kept: KnownConversation): Promise<Interceptor> =>
    guideOf(kept, async () => {
      await closing.get(kept);
      return createInterceptor({ ...options, log: await openLog(kept.id), session: kept.id });
    });

  const openedLike = (
    kept: KnownConversation,
    like: KnownConversation,
    after: number,
    answered: boolean,
  ): Promise<Interceptor> =>
    guideOf(kept, async () => {
      const source = await opened(like);
      const at = (answered ? like.answers.get(after) : undefined) ?? source.findEventAfter(after);
      const log = await openLog(kept.id);
      if (at !== undefined) await copyLogPrefix(source.log, at, log, kept.id);
      return createInterceptor({ ...options, log, session: kept.id });
    });

  /** Closes the least recently used interceptors. Only a request for the same conversation waits for it. */
  function makeRoom(): void {
    for (const [kept, guide] of guides) {
      if (guides.size <= maxOpen) return;
      if (kept.busy) continue;
      guides.delete(kept);
      if (!index) {
        known.remove(kept);
        named.delete(kept.id);
        conversations.delete(kept.id);
      }
      const closed = guide.then((each) => each.close()).catch(() => undefined);
      closing.set(kept, closed);
      void closed.then(() => closing.delete(kept));
    }
  }

  /** Claims a conversation for a request. Must run synchronously after the match, or two requests could claim it. */
  function claim(kept: KnownConversation, marks: readonly number[], recognised: boolean): RequestClaim {
    const { promise, resolve } = Promise.withResolvers<void>();
    known.remove(kept);
    const other = kept.marks.findIndex((mark, i) => mark !== marks[i]);
    const from = other < 0 ? Math.min(kept.marks.length, marks.length) : other;
    Object.assign(kept, { marks, tip: undefined, busy: promise });
    if (recognised) known.add(kept);
    const done = (): void => {
      kept.busy = undefined;
      resolve();
    };
    return { conversation: kept, from, release: done };
  }

  /** Finds the conversation by prefix. */
  async function find(
    messages: readonly (Message | null)[],
    marks: readonly number[],
    caller: string | undefined,
  ): Promise<FoundConversation> {
    for (;;) {
      const match = known.match(marks, messages);
      if (match.type === 'wait') {
        await match.conversation.busy;
        continue;
      }
      const kept = match.type === 'goes-on' ? match.conversation : newKept(crypto.randomUUID());
      const claimed = claim(kept, marks, true);
      if (match.type === 'goes-on') return { ...claimed, opening: opened(kept) };
      const origin = findOrigin(match, messages, caller);
      if (match.type === 'new') return { ...claimed, opening: opened(kept), origin };
      const answered = messages[match.after]?.role === 'assistant';
      return { ...claimed, opening: openedLike(kept, match.conversation, match.after, answered), origin };
    }
  }

  /** The conversation whose history a request rewrites: it starts with replies of it and continues differently, or a message of the user repeats a reply, such as a summary. */
  function findOrigin(
    match: PrefixMatch & { readonly type: 'new' | 'parts' },
    messages: readonly (Message | null)[],
    caller: string | undefined,
  ): FoundConversation['origin'] {
    const after = match.type === 'parts' ? match.after : 0;
    if (match.type === 'parts' && after < messages.length)
      for (const answered of match.conversation.answers.keys()) if (answered < after) return match.conversation;
    for (const message of messages.slice(after)) {
      if (!message || message.role === 'assistant') continue;
      const id = replies.find(messageText(message), caller);
      if (id !== undefined) return conversations.get(id) ?? 'forgotten';
    }
    return undefined;
  }

  /** Finds the conversation by name; requests are serialized. */
  async function byName(id: string, marks: readonly number[]): Promise<FoundConversation> {
    const kept = named.get(id) ?? newKept(id);
    named.set(id, kept);
    while (kept.busy) await kept.busy;
    return { ...claim(kept, marks, false), opening: opened(kept) };
  }

  return {
    async trackRequest(reading, { session, caller } = {}) {
      const toOwnMark = (mark: number): number => (caller === undefined ? mark : hash53(`${caller} ${mark}`));
      const toOwnId = (id: string): string => (caller === undefined ? id : `${caller} ${id}`);
      const { previousResponseId: previous } = reading;
      const earlier = previous === undefined ? undefined : answers.get(toOwnId(previous));
      const messages = [...(earlier ?? []), ...reading.messages];
      assertRequestBounds(messages);
      const logMarks = computePrefixHashes(messages);
      const marks = logMarks.map(toOwnMark);
      const found =
        session === undefined ? find(messages, marks, caller) : byName(parseSessionName(session, caller), marks);
      const { conversation, from, release, opening, origin } = await found;
      try {
        const guide = await opening;
        makeRoom();
        const replaced = origin && {
          untrusted: origin === 'forgotten' ? [unseenHistory] : await (await opened(origin)).listUntrusted(),
          isReply: (text: string) => replies.find(text, caller) !== undefined,
        };
        const guidance = await guide.beforeRequest({
          ...reading,
          messages,
          marks: logMarks,
          ...(replaced ? { replaced } : {}),
        });
        if (previous !== undefined && !earlier) {
          await guide.remark('guide/unseen', previous);
          await guide.addUntrusted([unseenHistory]);
        }
        index?.recordRequest(conversation.id, from, marks);
        return {
          interceptor: guide,
          action: guidance,
          storedMessages: earlier?.length ?? 0,
          markDelivered(message, name) {
            const at = guide.state.head ?? '';
            conversation.tip = toOwnMark(extendPrefixHash(logMarks.at(-1) ?? 0, message));
            conversation.answers.set(marks.length, at);
            if (session === undefined) known.add(conversation);
            index?.recordResponse(conversation.id, conversation.tip, at);
            if (session === undefined) replies.add(messageText(message), conversation.id, caller);
            if (name !== undefined) answers.set(toOwnId(name), [...messages, message]);
          },
          release,
        };
      } catch (error) {
        // The state in memory may differ from the log: reopen it from the log.
        guides.delete(conversation);
        await opening.then((guide) => guide.close()).catch(() => undefined);
        release();
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
