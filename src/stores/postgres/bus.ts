// Letters about words that are not settled, by NOTIFY: they are in no table, and reach only the processes that they are for.
import type { CreateMessageBus } from '../partial-text-protocol.ts';
import type { PostgresContext } from './context.ts';

const partialTextChannelName = 'fairlead_live';

/** One statement for all letters of a moment: each transaction that notifies makes the next one wait. */
const notifySql = 'SELECT pg_notify(channel, said) FROM unnest($1::text[], $2::text[]) AS letters (channel, said)';

/** The bus of a database. */
export const createPostgresBus =
  (base: PostgresContext): CreateMessageBus =>
  (me, heard) => {
    const { db, channels } = base;
    channels
      .set(partialTextChannelName, heard)
      .set(`${partialTextChannelName}_${me}`, (text) => text !== undefined && heard(text));
    return {
      setListening: (is) => is && base.startListening(),
      async send(letters) {
        const to = letters.map((letter) =>
          letter.to === undefined ? partialTextChannelName : `${partialTextChannelName}_${letter.to}`,
        );
        await db.all(notifySql, [to, letters.map(({ text }) => text)], { retryForMs: 0 });
      },
    };
  };
