// What `fairlead sessions` can do: one entry each. Data on standard output, everything else on standard error.
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, escapeInvisible, escapeInvisibleLine, type FleetStore } from '../../core/index.ts';
import { getLockOwner, verifyFile, type FileVerification } from '../../stores/index.ts';
import type * as Kept from '../fleet/kept-sessions.ts';
import { print, tell } from '../front/print.ts';
import { columns } from '../settings/columns.ts';
import { attempt } from '../settings/private-file.ts';
import { cloneSession, emptyTrash, listTrash, renameSession, restoreSession, trashSession } from './changes.ts';
import { exportSession, formatOf } from './export.ts';
import { findSession, listSessions, sessionPlaces, type SessionSummary, type Shelf } from './sessions.ts';
import { readSession, transcriptText } from './transcript.ts';

/** The options that were given, and where the sessions are. */
export type Given = {
  readonly shelf: Shelf;
  readonly json?: boolean;
  readonly format?: string;
  readonly output?: string;
  readonly empty?: boolean;
  /** Those of queued runs, in the store of the fleet. */
  readonly fleet?: boolean;
  readonly store?: string;
};

/** Something that can be done with sessions. */
export type Act = {
  readonly usage: string;
  readonly about: string;
  /** How many words it takes, at least and at most. */
  readonly takes: readonly [number, number];
  readonly options: readonly string[];
  run(words: readonly string[], given: Given): Promise<number> | number;
};

const say = (text: string): void => tell(`${text}\n`);
const json = (value: unknown): void => print(`${JSON.stringify(value, null, 2)}\n`);

const fleet = ['fleet', 'store'] as const;

const isKept = ({ fleet: asked, store }: Given): boolean => asked === true || store !== undefined;

/** Does something with the sessions in the store of a fleet. */
async function inFleet(
  { store: where }: Given,
  work: (kept: typeof Kept, store: FleetStore) => Promise<number>,
): Promise<number> {
  const [{ withStore }, kept] = await Promise.all([import('../fleet/store.ts'), import('../fleet/kept-sessions.ts')]);
  return withStore(where, (store) => work(kept, store));
}

/** Writes an export to where it is wanted. */
function handOut(text: string, { output }: Given): number {
  if (output === undefined || output === '-') print(text);
  else {
    attempt(output, 'write', () => writeFileSync(output, text, { flag: 'wx', mode: 0o600 }));
    say(`Written to ${output}.`);
  }
  return 0;
}

/** Everything that can be done, by name. */
export const acts: Readonly<Record<string, Act>> = {
  list: {
    usage: '[--json]',
    about: 'every session, the latest first',
    takes: [0, 0],
    options: ['json', ...fleet],
    run(_, given) {
      if (isKept(given)) return inFleet(given, (kept, store) => kept.listKept(store, given.json === true));
      const all = listSessions(given.shelf);
      if (given.json) json(all);
      else if (all.length === 0) say('There is no session yet.');
      else print(columns([['name', 'last change', 'events', 'size', 'model', 'begins with'], ...all.map(cells)]));
      if (!given.json && existsSync(path.join(given.shelf.data, 'fleet.sqlite')))
        say('Those of queued runs: fairlead sessions list --fleet');
      return 0;
    },
  },
  show: {
    usage: '<session> [--json]',
    about: 'everything that was said in it',
    takes: [1, 1],
    options: ['json', ...fleet],
    async run([which = ''], given) {
      if (isKept(given))
        return inFleet(given, async (kept, store) => {
          if (!given.json) return kept.showKept(store, which);
          print(await kept.exportKept(store, which, 'json'));
          return 0;
        });
      const place = findSession(given.shelf, which);
      if (given.json) {
        print(await exportSession(place, 'json'));
        return 0;
      }
      const { messages, problems } = await readSession(place.file);
      const holder = getLockOwner(place.file);
      if (holder) say(`It is being written by process ${holder.pid} on ${holder.host} since ${holder.time}.`);
      for (const { what } of problems) say(what);
      if (messages.length === 0) say('Nothing was said in it yet.');
      else print(`${transcriptText(messages)}\n`);
      return 0;
    },
  },
  rename: {
    usage: '<session> <new name>',
    about: 'give it another name',
    takes: [2, 2],
    options: [],
    async run([which = '', name = ''], { shelf }) {
      const from = findSession(shelf, which);
      const to = await renameSession(shelf, from, name);
      say(`"${escapeInvisible(from.name)}" is now "${escapeInvisible(to.name)}".`);
      return 0;
    },
  },
  clone: {
    usage: '<session> [new name]',
    about: 'copy it, with all its branches; the name is <session>-clone unless given',
    takes: [1, 2],
    options: [],
    async run([which = '', name], { shelf }) {
      const from = findSession(shelf, which);
      const to = await cloneSession(shelf, from, name);
      say(`A copy of "${escapeInvisible(from.name)}":`);
      print(`${escapeInvisibleLine(to.name)}\n`);
      return 0;
    },
  },
  export: {
    usage: '<session> [--format md|html|json] [-o <file>]',
    about: 'write it as Markdown, as a page or as JSON',
    takes: [1, 1],
    options: ['format', 'output', ...fleet],
    async run([which = ''], given) {
      const format = formatOf(given.format, given.output);
      return isKept(given)
        ? inFleet(given, async (kept, store) => handOut(await kept.exportKept(store, which, format), given))
        : handOut(await exportSession(findSession(given.shelf, which), format), given);
    },
  },
  verify: {
    usage: '[session] [--json]',
    about: 'check that the files say what was written',
    takes: [0, 1],
    options: ['json', ...fleet],
    run: ([which], given) =>
      isKept(given)
        ? inFleet(given, (kept, store) => kept.verifyKept(store, which, given.json === true))
        : verify(which, given),
  },
  delete: {
    usage: '<session>',
    about: 'put it into the trash',
    takes: [1, 1],
    options: [],
    async run([which = ''], { shelf }) {
      const { name } = await trashSession(shelf, findSession(shelf, which));
      say(`"${escapeInvisible(name)}" is in the trash; "fairlead sessions restore" brings it back.`);
      return 0;
    },
  },
  trash: {
    usage: '[--json] [--empty]',
    about: 'what is in the trash; --empty deletes all of it for good',
    takes: [0, 0],
    options: ['json', 'empty'],
    run(_, given) {
      const all = listTrash(given.shelf);
      if (given.empty) say(`Deleted for good: ${emptyTrash(given.shelf)} of ${all.length}.`);
      else if (given.json) json(all);
      else if (all.length === 0) say('The trash is empty.');
      else print(columns([['name', 'deleted'], ...all.map(({ name, since }) => [escapeInvisibleLine(name), since])]));
      return 0;
    },
  },
  restore: {
    usage: '<session> [new name]',
    about: 'take it out of the trash',
    takes: [1, 2],
    options: [],
    async run([name = '', as], { shelf }) {
      const place = await restoreSession(shelf, name, as);
      say(`"${escapeInvisible(place.name)}" is back.`);
      return 0;
    },
  },
};

function cells({ name, changed, events, size, model, first }: SessionSummary): readonly string[] {
  const short = (text: string, most: number): string => {
    const line = escapeInvisibleLine(text);
    return line.length > most ? `${line.slice(0, most - 1)}…` : line;
  };
  const count = events === undefined ? '?' : String(events);
  return [
    short(name, 40),
    changed.slice(0, 16).replace('T', ' '),
    count,
    bytes(size),
    short(model ?? '', 30),
    short(first ?? '', 50),
  ];
}

function bytes(size: number): string {
  if (size < 1000) return `${size} B`;
  return size < 1e6 ? `${Math.round(size / 1e3)} kB` : `${(size / 1e6).toFixed(1)} MB`;
}

async function verify(which: string | undefined, given: Given): Promise<number> {
  const places = which === undefined ? sessionPlaces(given.shelf) : [findSession(given.shelf, which)];
  const found = [];
  for (const { name, file } of places) found.push({ name, ...(await verified(file)) });
  if (given.json) json(found);
  else
    for (const { name, ok, events, problems } of found) {
      print(`${escapeInvisibleLine(name)}: ${ok ? 'sound' : 'not sound'}, ${events} events\n`);
      for (const { what } of problems) print(`  ${escapeInvisible(what)}\n`);
    }
  return found.every(({ ok }) => ok) ? 0 : 1;
}

/** A file that cannot even be read as a session must not keep the others from being checked. */
async function verified(
  file: string,
): Promise<Pick<FileVerification, 'ok' | 'events'> & { problems: readonly { what: string }[] }> {
  try {
    return await verifyFile(file);
  } catch (error) {
    return { ok: false, events: 0, problems: [{ what: errorMessage(error) }] };
  }
}
