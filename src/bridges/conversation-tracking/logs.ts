// Where conversations are kept, and how one begins as another did.
import path from 'node:path';
import { FairleadError, type Fact, type Log } from '../../core/index.ts';
import { memoryLog, openJsonl } from '../../stores/index.ts';

/** Opens the log of a conversation, which may be new. */
export type OpenLog = (id: string) => Promise<Log>;

/** Logs in memory, gone with their guides; or session files in a folder. */
export const createLogOpener = (folder: string | undefined): OpenLog =>
  folder === undefined
    ? async () => memoryLog()
    : async (id) => withoutFsync(await openJsonl(path.join(folder, `${id}.jsonl`), { session: id }));

/** A power cut may cost the end of such a log. A caller who waits for its model does not wait for the disk. */
const withoutFsync = (log: Log): Log => ({
  read: (options) => log.read(options),
  append: (after, facts, { durable: _, ...options } = {}) => log.append(after, facts, options),
  follow: (from, signal) => log.follow(from, signal),
  close: () => log.close(),
});

/** Writes down again what one conversation holds up to an event, as the beginning of another. The nonce stays: what the model has read stays as it was. */
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

/** Names that callers give become names of files. */
export function parseSessionName(session: string): string {
  if (/^[\w-][\w.-]{0,99}$/.test(session)) return `named-${session}`;
  throw new FairleadError('bridge/bad-session', `"${session.slice(0, 60)}" cannot be the name of a session.`, {
    blame: 'user',
    hint: 'Use up to 100 letters, digits, dots, hyphens and underscores.',
  });
}
