// Opens the logs of tracked conversations, and copies the prefix of one into another.
import path from 'node:path';
import { FairleadError, type Fact, type Log } from '../../core/index.ts';
import { memoryLog, openJsonl } from '../../stores/index.ts';

/** Opens the log of a conversation; creates it if it is new. */
export type OpenLog = (id: string) => Promise<Log>;

/** Creates a log opener: in memory, or session files in a directory. */
export const createLogOpener = (folder: string | undefined): OpenLog =>
  folder === undefined
    ? async () => memoryLog()
    : async (id) => withoutFsync(await openJsonl(path.join(folder, `${id}.jsonl`), { session: id }));

/** Appends without fsync: a power failure can lose the tail, but a model request never waits for the disk. */
const withoutFsync = (log: Log): Log => ({
  read: (options) => log.read(options),
  append: (after, facts, { durable: _, ...options } = {}) => log.append(after, facts, options),
  follow: (from, signal) => log.follow(from, signal),
  close: () => log.close(),
});

/** Copies a conversation up to an event as the start of another. The nonce stays the same, so that text the model has read stays unchanged. */
export async function copyLogPrefix(source: Log, at: string, log: Log, session: string): Promise<void> {
  let after = 0;
  for await (const events of source.read({ at })) {
    const facts = events.map(({ seq: _, id: __, parent: ___, time: ____, ...fact }): Fact =>
      fact.type === 'session-started'
        ? { ...fact, session, from: { session: fact.session, event: at } }
        : (fact as Fact),
    );
    const written = facts.length ? await log.append(after, facts) : [];
    after = written.at(-1)?.seq ?? after;
  }
}

/** Whether a conversation has a name that its caller gave it. */
export const isNamedConversation = (id: string): boolean => /^(?:named|keyed)-/.test(id);

/** Converts a conversation name of the caller to a file name; with the digest of a key, the name belongs to that key alone. */
export function parseSessionName(session: string, caller?: string): string {
  if (/^[\w-][\w.-]{0,99}$/.test(session))
    return caller === undefined ? `named-${session}` : `keyed-${caller}-${session}`;
  throw new FairleadError('bridge/bad-session', `"${session.slice(0, 60)}" cannot be the name of a session.`, {
    blame: 'user',
    hint: 'Use up to 100 letters, digits, dots, hyphens and underscores.',
  });
}
