// What `fairlead sessions` can do: one entry each. Data on standard output, everything else on standard error.
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, escapeInvisible, escapeInvisibleLine, type FleetStore } from '../../../core/index.ts';
import { getLockOwner, verifyFile, type FileVerification, type SessionFileProblem } from '../../../stores/index.ts';
import type * as FleetSessions from './fleet-sessions.ts';
import { print, printErr } from '../../args/stdio.ts';
import { formatColumns } from '../../../core/format-columns.ts';
import { withFileError } from '../../../stores/private-file.ts';
import {
  cloneSession,
  emptyTrash,
  listTrash,
  renameSession,
  restoreSession,
  trashSession,
} from '../../../sessions/session-operations.ts';
import { exportSession, parseExportFormat } from '../../../sessions/export.ts';
import {
  findSession,
  listSessions,
  listSessionFiles,
  type SessionSummary,
  type SessionDirs,
} from '../../../sessions/session-directory.ts';
import { readSession, formatSessionTranscript } from '../../../sessions/transcript.ts';

/** The options that were given, and where the sessions are. */
export type SessionsOptions = {
  readonly dirs: SessionDirs;
  readonly json?: boolean;
  readonly format?: string;
  readonly output?: string;
  readonly empty?: boolean;
  /** Those of queued runs, in the store of the fleet. */
  readonly fleet?: boolean;
  readonly store?: string;
};

/** Something that can be done with sessions. */
export type SessionsSubcommand = {
  readonly usage: string;
  readonly description: string;
  /** How many words it takes, at least and at most. */
  readonly argumentCount: readonly [number, number];
  readonly options: readonly string[];
  run(words: readonly string[], given: SessionsOptions): Promise<number> | number;
};

const printErrLine = (text: string): void => printErr(`${text}\n`);
const printJson = (value: unknown): void => print(`${JSON.stringify(value, null, 2)}\n`);

const fleetOptions = ['fleet', 'store'] as const;

const isInFleetStore = ({ fleet: asked, store }: SessionsOptions): boolean => asked === true || store !== undefined;

/** Does something with the sessions in the store of a fleet. */
async function withFleetSessions(
  { store: where }: SessionsOptions,
  work: (kept: typeof FleetSessions, store: FleetStore) => Promise<number>,
): Promise<number> {
  const [{ withFleetStore }, kept] = await Promise.all([
    import('../fleet/open-store.ts'),
    import('./fleet-sessions.ts'),
  ]);
  return withFleetStore(where, (store) => work(kept, store));
}

/** Writes an export to where it is wanted. */
function writeExport(text: string, { output }: SessionsOptions): number {
  if (output === undefined || output === '-') print(text);
  else {
    withFileError(output, 'write', () => writeFileSync(output, text, { flag: 'wx', mode: 0o600 }));
    printErrLine(`Written to ${output}.`);
  }
  return 0;
}

/** Everything that can be done, by name. */
export const sessionsSubcommands: Readonly<Record<string, SessionsSubcommand>> = {
  list: {
    usage: '[--json]',
    description: 'every session, the latest first',
    argumentCount: [0, 0],
    options: ['json', ...fleetOptions],
    run(_, given) {
      if (isInFleetStore(given))
        return withFleetSessions(given, (kept, store) => kept.listFleetSessions(store, given.json === true));
      const all = listSessions(given.dirs);
      if (given.json) printJson(all);
      else if (all.length === 0) printErrLine('There is no session yet.');
      else
        print(
          formatColumns([['name', 'last change', 'events', 'size', 'model', 'begins with'], ...all.map(sessionRow)]),
        );
      if (!given.json && existsSync(path.join(given.dirs.data, 'fleet.sqlite')))
        printErrLine('Those of queued runs: fairlead sessions list --fleet');
      return 0;
    },
  },
  show: {
    usage: '<session> [--json]',
    description: 'everything that was said in it',
    argumentCount: [1, 1],
    options: ['json', ...fleetOptions],
    async run([which = ''], given) {
      if (isInFleetStore(given))
        return withFleetSessions(given, async (kept, store) => {
          if (!given.json) return kept.showFleetSession(store, which);
          print(await kept.exportStoreSession(store, which, 'json'));
          return 0;
        });
      const place = findSession(given.dirs, which);
      if (given.json) {
        print(await exportSession(place, 'json'));
        return 0;
      }
      const { messages, problems } = await readSession(place.file);
      const holder = getLockOwner(place.file);
      if (holder) printErrLine(`It is being written by process ${holder.pid} on ${holder.host} since ${holder.time}.`);
      for (const { message } of problems) printErrLine(message);
      if (messages.length === 0) printErrLine('Nothing was said in it yet.');
      else print(`${formatSessionTranscript(messages)}\n`);
      return 0;
    },
  },
  rename: {
    usage: '<session> <new name>',
    description: 'give it another name',
    argumentCount: [2, 2],
    options: [],
    async run([which = '', name = ''], { dirs }) {
      const from = findSession(dirs, which);
      const to = await renameSession(dirs, from, name);
      printErrLine(`"${escapeInvisible(from.name)}" is now "${escapeInvisible(to.name)}".`);
      return 0;
    },
  },
  clone: {
    usage: '<session> [new name]',
    description: 'copy it, with all its branches; the name is <session>-clone unless given',
    argumentCount: [1, 2],
    options: [],
    async run([which = '', name], { dirs }) {
      const from = findSession(dirs, which);
      const to = await cloneSession(dirs, from, name);
      printErrLine(`A copy of "${escapeInvisible(from.name)}":`);
      print(`${escapeInvisibleLine(to.name)}\n`);
      return 0;
    },
  },
  export: {
    usage: '<session> [--format md|html|json] [-o <file>]',
    description: 'write it as Markdown, as a page or as JSON',
    argumentCount: [1, 1],
    options: ['format', 'output', ...fleetOptions],
    async run([which = ''], given) {
      const format = parseExportFormat(given.format, given.output);
      return isInFleetStore(given)
        ? withFleetSessions(given, async (kept, store) =>
            writeExport(await kept.exportStoreSession(store, which, format), given),
          )
        : writeExport(await exportSession(findSession(given.dirs, which), format), given);
    },
  },
  verify: {
    usage: '[session] [--json]',
    description: 'check that the files say what was written',
    argumentCount: [0, 1],
    options: ['json', ...fleetOptions],
    run: ([which], given) =>
      isInFleetStore(given)
        ? withFleetSessions(given, (kept, store) => kept.verifyFleetSessions(store, which, given.json === true))
        : verifySessions(which, given),
  },
  delete: {
    usage: '<session>',
    description: 'put it into the trash',
    argumentCount: [1, 1],
    options: [],
    async run([which = ''], { dirs }) {
      const { name } = await trashSession(dirs, findSession(dirs, which));
      printErrLine(`"${escapeInvisible(name)}" is in the trash; "fairlead sessions restore" brings it back.`);
      return 0;
    },
  },
  trash: {
    usage: '[--json] [--empty]',
    description: 'what is in the trash; --empty deletes all of it for good',
    argumentCount: [0, 0],
    options: ['json', 'empty'],
    run(_, given) {
      const all = listTrash(given.dirs);
      if (given.empty) printErrLine(`Deleted for good: ${emptyTrash(given.dirs)} of ${all.length}.`);
      else if (given.json) printJson(all);
      else if (all.length === 0) printErrLine('The trash is empty.');
      else
        print(
          formatColumns([['name', 'deleted'], ...all.map(({ name, since }) => [escapeInvisibleLine(name), since])]),
        );
      return 0;
    },
  },
  restore: {
    usage: '<session> [new name]',
    description: 'take it out of the trash',
    argumentCount: [1, 2],
    options: [],
    async run([name = '', as], { dirs }) {
      const place = await restoreSession(dirs, name, as);
      printErrLine(`"${escapeInvisible(place.name)}" is back.`);
      return 0;
    },
  },
};

function sessionRow({ name, changed, events, size, model, first }: SessionSummary): readonly string[] {
  const short = (text: string, most: number): string => {
    const line = escapeInvisibleLine(text);
    return line.length > most ? `${line.slice(0, most - 1)}…` : line;
  };
  const count = events === undefined ? '?' : String(events);
  return [
    short(name, 40),
    changed.slice(0, 16).replace('T', ' '),
    count,
    formatBytes(size),
    short(model ?? '', 30),
    short(first ?? '', 50),
  ];
}

function formatBytes(size: number): string {
  if (size < 1000) return `${size} B`;
  return size < 1e6 ? `${Math.round(size / 1e3)} kB` : `${(size / 1e6).toFixed(1)} MB`;
}

async function verifySessions(which: string | undefined, given: SessionsOptions): Promise<number> {
  const places = which === undefined ? listSessionFiles(given.dirs) : [findSession(given.dirs, which)];
  const found = [];
  for (const { name, file } of places) found.push({ name, ...(await verifySessionFile(file)) });
  if (given.json) printJson(found.map((each) => ({ ...each, problems: each.problems.map(toProblemJson) })));
  else
    for (const { name, ok, events, problems } of found) {
      print(`${escapeInvisibleLine(name)}: ${ok ? 'sound' : 'not sound'}, ${events} events\n`);
      for (const { message } of problems) print(`  ${escapeInvisible(message)}\n`);
    }
  return found.every(({ ok }) => ok) ? 0 : 1;
}

type VerificationProblem = Partial<SessionFileProblem> & Pick<SessionFileProblem, 'message'>;

/** The JSON output keeps the field names of version 0.1. */
const toProblemJson = ({ message, backupFile, resolved, ...problem }: VerificationProblem) => ({
  ...problem,
  what: message,
  kept: backupFile,
  healed: resolved,
});

/** A file that cannot even be read as a session must not keep the others from being checked. */
async function verifySessionFile(
  file: string,
): Promise<Pick<FileVerification, 'ok' | 'events'> & { problems: readonly VerificationProblem[] }> {
  try {
    return await verifyFile(file);
  } catch (error) {
    return { ok: false, events: 0, problems: [{ message: errorMessage(error) }] };
  }
}
