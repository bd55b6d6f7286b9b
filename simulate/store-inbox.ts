// The inbox of the simulated store.
import { FairleadError, type Inbox } from '../src/core/index.ts';
import { toInboxDelivery } from '../src/stores/inbox-row.ts';
import type { StoreLink } from './store.ts';

/** Creates the inbox of a connection; its watch breaks when `breaksWatch` says so. */
export function createModelInbox(link: StoreLink, breaksWatch: () => boolean): Inbox {
  const { state, read, write, addWaiter, isClosed } = link;
  const { letters } = state.tables;
  return {
    send: (session, message) => write(`send ${message.type}`, () => state.runs.send(session, message)),
    read: (session, after) =>
      read('read inbox', () =>
        letters
          .rows()
          .filter((letter) => letter.session === session && letter.position > after)
          .map(toInboxDelivery),
      ),
    clear: (session, upTo) =>
      write(
        'clear inbox',
        () => {
          for (const letter of letters.rows())
            if (letter.session === session && (letter.position <= upTo || state.isRemoved('clear-position')))
              letters.remove(String(letter.position));
        },
        { durable: false },
      ),
    async *watch(signal) {
      const waiter = addWaiter('inbox');
      let last = Math.max(0, ...letters.rows().map(({ position }) => position));
      try {
        while (!signal.aborted && !isClosed()) {
          await waiter.wait({ signal });
          if (breaksWatch())
            throw new FairleadError('store/unreachable', 'The watch broke.', { blame: 'store', retry: true });
          const since = last;
          const fresh = letters.rows().filter(({ position }) => position > since);
          last = fresh.at(-1)?.position ?? last;
          for (const session of new Set(fresh.map((letter) => letter.session))) {
            if (signal.aborted) return;
            yield session;
          }
        }
      } finally {
        waiter.remove();
      }
    },
  };
}
