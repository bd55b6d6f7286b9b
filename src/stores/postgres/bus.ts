// Letters about words that are not settled, by NOTIFY: they are in no table, and reach only the processes that they are for.
import type { MakeBus } from '../live-mail.ts';
import type { Base } from './base.ts';

const channel = 'fairlead_live';

/** One statement for all letters of a moment: each transaction that notifies makes the next one wait. */
const postSql = 'SELECT pg_notify(channel, said) FROM unnest($1::text[], $2::text[]) AS letters (channel, said)';

/** The bus of a database. */
export const busOver =
  (base: Base): MakeBus =>
  (me, heard) => {
    const { db, channels } = base;
    channels.set(channel, heard).set(`${channel}_${me}`, (text) => text !== undefined && heard(text));
    return {
      attend: (is) => is && base.attend(),
      async post(letters) {
        const to = letters.map((letter) => (letter.to === undefined ? channel : `${channel}_${letter.to}`));
        await db.all(postSql, [to, letters.map(({ text }) => text)], { patienceMs: 0 });
      },
    };
  };
