// PostgreSQL transport for partial text: NOTIFY on a channel for all processes and on one for each. Nothing is stored.
import type { CreateMessageBus } from '../partial-text-protocol.ts';
import type { PostgresContext } from './context.ts';

const partialTextChannelName = 'fairlead_live';

/** One statement for all messages of a flush: transactions with NOTIFY wait for each other. */
const notifySql =
  'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS messages (channel, payload)';

/** Creates the message bus of a store. */
export const createPostgresBus =
  (context: PostgresContext): CreateMessageBus =>
  (ownId, receive) => {
    const { db, channels } = context;
    channels
      .set(partialTextChannelName, receive)
      .set(`${partialTextChannelName}_${ownId}`, (text) => text !== undefined && receive(text));
    return {
      setListening: (isListening) => isListening && context.startListening(),
      async send(messages) {
        const targets = messages.map(({ to }) =>
          to === undefined ? partialTextChannelName : `${partialTextChannelName}_${to}`,
        );
        await db.all(notifySql, [targets, messages.map(({ text }) => text)], { retryForMs: 0 });
      },
    };
  };
