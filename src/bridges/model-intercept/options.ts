// Resolves the conversations of a framework bridge: many, recognized by prefix, or one given log or interceptor.
import { hash } from 'node:crypto';
import type { Log } from '../../core/index.ts';
import {
  createConversationTracker,
  unseenHistory,
  type ConversationTrackerOptions,
  type ConversationTracker,
} from '../conversation-tracking/tracker.ts';
import { createResponseHistoryCache } from '../conversation-tracking/response-history.ts';
import { createInterceptor, type Interceptor } from '../interceptor/interceptor.ts';

/** Options of a framework bridge. */
export type BridgeOptions = ConversationTrackerOptions & {
  /** The log of a single conversation. Without it there may be many, recognized by their prefix. */
  readonly log?: Log;
  /** An existing interceptor: all requests belong to its conversation, and other options are ignored. */
  readonly interceptor?: Interceptor;
  /** An existing conversation tracker, closed by its creator. */
  readonly tracker?: ConversationTracker;
};

/** The conversations of a bridge. */
export function resolveTracker({ log, interceptor, tracker, ...options }: BridgeOptions): ConversationTracker {
  if (tracker) return tracker;
  if (interceptor) return createSingleTracker(() => Promise.resolve(interceptor));
  if (!log) return createConversationTracker(options);
  let opened: Promise<Interceptor> | undefined;
  return createSingleTracker(() => (opened ??= createInterceptor({ ...options, log })));
}

/** Whether checks read whole responses: then text waits too, and the caller sees only accepted responses. */
export const hasChecks = ({ checks }: BridgeOptions): boolean => (checks?.length ?? 0) > 0;

/** Converts a framework's conversation name to a file name; undefined if there is none. */
export function toConversationId(told: unknown): string | undefined {
  if (typeof told !== 'string' || told === '') return undefined;
  return /^[\w-][\w.-]{0,99}$/.test(told) ? told : `id-${hash('sha256', told).slice(0, 40)}`;
}

/** A single conversation: a diverging request becomes a branch. Requests are serialized. */
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
        const { previousResponseId: previous } = reading;
        const known = answers.get(previous);
        const earlier = known ?? [];
        const messages = [...earlier, ...reading.messages];
        const action = await guide.beforeRequest({ ...reading, messages });
        if (previous !== undefined && !known) await guide.addUntrusted([unseenHistory]);
        return {
          interceptor: guide,
          action,
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
