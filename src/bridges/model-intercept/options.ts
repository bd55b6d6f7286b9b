// Where the conversations of a framework's bridge are: many that are told apart, or the one of a log or of an open guide.
import { createHash } from 'node:crypto';
import type { Log } from '../../core/index.ts';
import {
  createConversationTracker,
  type ConversationTrackerOptions,
  type ConversationTracker,
} from '../conversation-tracking/tracker.ts';
import { createResponseHistoryCache } from '../conversation-tracking/response-history.ts';
import { createInterceptor, type Interceptor } from '../interceptor/interceptor.ts';

/** What a framework's bridge goes by. */
export type BridgeOptions = ConversationTrackerOptions & {
  /** The log of the one conversation that passes through here. Without it there may be many, told apart by how they begin. */
  readonly log?: Log;
  /** A guide that is open already: then everything belongs to its conversation, and the other options are not looked at. */
  readonly interceptor?: Interceptor;
  /** Conversations that are open already, to be closed by who opened them. */
  readonly tracker?: ConversationTracker;
};

/** The conversations that pass through a bridge. */
export function resolveTracker({ log, interceptor, tracker, ...options }: BridgeOptions): ConversationTracker {
  if (tracker) return tracker;
  if (interceptor) return createSingleTracker(() => Promise.resolve(interceptor));
  if (!log) return createConversationTracker(options);
  let opened: Promise<Interceptor> | undefined;
  return createSingleTracker(() => (opened ??= createInterceptor({ ...options, log })));
}

/** Whether answers are looked at as a whole: then their words wait too, and the caller sees only what passed. */
export const hasChecks = ({ checks }: BridgeOptions): boolean => (checks?.length ?? 0) > 0;

/** A framework's name for a conversation as one that a file may have; nothing where it is none. */
export function toConversationId(told: unknown): string | undefined {
  if (typeof told !== 'string' || told === '') return undefined;
  return /^[\w-][\w.-]{0,99}$/.test(told) ? told : `id-${createHash('sha256').update(told).digest('hex').slice(0, 40)}`;
}

/** One conversation: what begins otherwise is a branch of it. Requests come one after the other. */
function createSingleTracker(open: () => Promise<Interceptor>): ConversationTracker {
  let busy = Promise.resolve();
  const answers = createResponseHistoryCache();
  return {
    async trackRequest(reading) {
      const before = busy;
      const { promise, resolve } = Promise.withResolvers<void>();
      busy = promise;
      await before;
      try {
        const guide = await open();
        const earlier = answers.get(reading.previousResponseId) ?? [];
        const messages = [...earlier, ...reading.messages];
        return {
          interceptor: guide,
          action: await guide.beforeRequest({ ...reading, messages }),
          storedMessages: earlier.length,
          markDelivered: (message, name) =>
            name === undefined ? undefined : answers.set(name, [...messages, message]),
          release: resolve,
        };
      } catch (error) {
        resolve();
        throw error;
      }
    },
    close: () => open().then((guide) => guide.close()),
  };
}
