// Which session to open in interactive mode: what stands in the way of the one that was asked for is put to the person.
import { existsSync } from 'node:fs';
import type { TerminalUI } from '../face/face.ts';
import type { SessionSelector } from '../front/asked.ts';
import {
  findSession,
  freeName,
  getLockOwner,
  listSessions,
  mostRecent,
  sessionFile,
  tidyName,
  type LockOwner,
  type SessionPlace,
  type Shelf,
} from '../sessions/index.ts';
import { sessionChoice } from './session-choice.ts';

/** A session that another process writes to. */
export type Held = { readonly place: SessionPlace; readonly holder: LockOwner };

/** The session to open, and who must let go of it first. */
export type Settled = { readonly which: SessionSelector; readonly held?: Held };

/** Settles which session to open; nothing if the person would rather leave. */
export async function settleSession(
  which: SessionSelector,
  shelf: Shelf,
  face: TerminalUI,
): Promise<Settled | undefined> {
  if (which.type === 'resume' || which.type === 'latest') return settleOld(which, shelf, face);
  return which.type === 'ephemeral' || which.name === undefined
    ? { which }
    : settleName(which, which.name, shelf, face);
}

type Old = SessionSelector & { readonly type: 'resume' | 'latest' };

async function settleOld(which: Old, shelf: Shelf, face: TerminalUI): Promise<Settled | undefined> {
  const place = await findOld(which, shelf, face);
  if (typeof place === 'string') return place === 'none-yet' ? { which: { type: 'new' } } : undefined;
  const holder = place && getLockOwner(place.file);
  if (!place || !holder) return { which: place ? { type: 'resume', session: place.name } : which };
  const key = await face.askKey({
    title: `"${place.name}" is being written by ${holderWords(holder)}. What now?`,
    keys: [
      { key: 'w', label: 'watch it' },
      { key: 'c', label: 'go on with a copy' },
      { key: 'l', label: 'leave' },
    ],
    defaultKey: 'l',
  });
  if (key === 'c') return { which: { type: 'clone', session: place.name } };
  return key === 'w' ? { which: { type: 'resume', session: place.name }, held: { place, holder } } : undefined;
}

/** Where the session is that is to be gone on with: the person picks where none is named. */
async function findOld(
  which: Old,
  shelf: Shelf,
  face: TerminalUI,
): Promise<SessionPlace | 'none-yet' | 'none-picked' | undefined> {
  if (which.type === 'latest') return mostRecent(shelf);
  if (which.session !== undefined) return findSession(shelf, which.session);
  const sessions = listSessions(shelf);
  if (sessions.length === 0) return 'none-yet';
  const picked = await face.pick('Resume which session?', sessions.map(sessionChoice));
  return sessions.find(({ name }) => name === picked) ?? 'none-picked';
}

/** The process that writes to a session, in words. */
export const holderWords = ({ pid, host, time }: LockOwner): string => `process ${pid} on ${host} since ${time}`;

/** A new name that is taken already leads to that session, to another name, or out. */
async function settleName(
  which: SessionSelector & { readonly type: 'new' | 'clone' },
  name: string,
  shelf: Shelf,
  face: TerminalUI,
): Promise<Settled | undefined> {
  const isTaken = (each: string): boolean => existsSync(sessionFile(shelf, each));
  if (!isTaken(name)) return { which };
  const free = freeName(tidyName(name), isTaken);
  const key = await face.askKey({
    title: `There is already a session named "${tidyName(name)}". What now?`,
    keys: [
      { key: 'o', label: `call the new one "${free}"` },
      { key: 'r', label: 'resume the old one' },
      { key: 'l', label: 'leave' },
    ],
    defaultKey: 'l',
  });
  if (key === 'o') return { which: { ...which, name: free } };
  return key === 'r' ? settleOld({ type: 'resume', session: name }, shelf, face) : undefined;
}
