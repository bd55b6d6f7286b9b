// The subcommands of `fairlead sessions`. Data goes to standard output, messages to standard error.
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { escapeInvisible, escapeInvisibleLine, type FleetStore, formatColumns } from '../../../core/index.ts';
import { getLockOwner, withFileError } from '../../../stores/index.ts';
import type * as FleetSessions from './fleet-sessions.ts';
import { print, printErr } from '../../args/stdio.ts';
import { verifySessions } from './verify-sessions.ts';
import {
  cloneSession,
  emptyTrash,
  listTrash,
  renameSession,
  restoreSession,
  searchSessions,
  type SessionMatch,
  sortByFolder,
  summarizeSession,
  titleSession,
  trashSession,
  exportSession,
  parseExportFormat,
  findSession,
  listSessions,
  type SessionSummary,
  type SessionDirs,
  readSession,
  formatSessionTranscript,
} from '../../../sessions/index.ts';

/** The parsed options, and the directories of the sessions. */
export type SessionsOptions = {
  readonly dirs: SessionDirs;
  /** Whether to list the sessions of all folders. */
  readonly all?: boolean;
  readonly json?: boolean;
  readonly format?: string;
  readonly output?: string;
  readonly empty?: boolean;
  /** Whether to use the sessions of queued runs, in the store of the fleet. */
  readonly fleet?: boolean;
  readonly store?: string;
};

/** A subcommand of `fairlead sessions`. */
export type SessionsSubcommand = {
  readonly usage: string;
  readonly description: string;
  /** The minimum and maximum number of arguments. */
  readonly argumentCount: readonly [number, number];
  readonly options: readonly string[];
  run(args: readonly string[], options: SessionsOptions): Promise<number> | number;
};

const printErrLine = (text: string): void => printErr(`${text}\n`);
const printJson = (value: unknown): void => print(`${JSON.stringify(value, null, 2)}\n`);

const fleetOptions = ['fleet', 'store'] as const;

const isInFleetStore = ({ fleet, store }: SessionsOptions): boolean => fleet === true || store !== undefined;

/** Runs some work on the sessions in the store of the fleet. */
async function withFleetSessions(
  { store: storeArg }: SessionsOptions,
  work: (fleetSessions: typeof FleetSessions, store: FleetStore) => Promise<number>,
): Promise<number> {
  const [{ withFleetStore }, fleetSessions] = await Promise.all([
    import('../fleet/open-store.ts'),
    import('./fleet-sessions.ts'),
  ]);
  return withFleetStore(storeArg, (store) => work(fleetSessions, store));
}

/** Writes an export, as the DLP policy allows it, to standard output or to the file of --output. */
async function writeExport(exported: string, format: string, { output }: SessionsOptions): Promise<number> {
  const { formatCounts, guardExport } = await import('../../../coding-agent/dlp/index.ts');
  const { text, removed } = guardExport(exported, format);
  if (Object.keys(removed).length > 0) printErrLine(`Without ${formatCounts(removed)} (setting dlp).`);
  if (output === undefined || output === '-') print(text);
  else {
    withFileError(output, 'write', () => writeFileSync(output, text, { flag: 'wx', mode: 0o600 }));
    printErrLine(`Written to ${output}.`);
  }
  return 0;
}

/** The subcommands by name. */
export const sessionsSubcommands: Readonly<Record<string, SessionsSubcommand>> = {
  list: {
    usage: '[--all] [--json]',
    description: 'list the sessions of this folder, the latest first; --all: of all folders',
    argumentCount: [0, 0],
    options: ['all', 'json', ...fleetOptions],
    run(_, options) {
      if (isInFleetStore(options))
        return withFleetSessions(options, (fleetSessions, store) =>
          fleetSessions.listFleetSessions(store, options.json === true),
        );
      const { own, others } = sortByFolder(listSessions(options.dirs), process.cwd());
      // A session of an older version has no folder and may belong to any.
      const shown = options.all ? [...own, ...others] : [...own, ...others.filter((each) => each.folder === undefined)];
      const hidden = own.length + others.length - shown.length;
      if (options.json) printJson(shown);
      else if (shown.length === 0)
        printErrLine(hidden > 0 ? 'No sessions in this folder.' : 'There is no session yet.');
      else print(formatColumns([sessionHeads(options), ...shown.map((each) => sessionRow(each, options))]));
      if (!options.json && hidden > 0) printErrLine(`${hidden} in other folders: fairlead sessions list --all`);
      if (!options.json && existsSync(path.join(options.dirs.data, 'fleet.sqlite')))
        printErrLine('Sessions of queued runs: fairlead sessions list --fleet');
      return 0;
    },
  },
  search: {
    usage: '<words> [--json]',
    description: 'find sessions by words of their title and messages, this folder first',
    argumentCount: [1, 20],
    options: ['json'],
    async run(words, options) {
      const matches: SessionMatch[] = [];
      for await (const match of searchSessions(options.dirs, words.join(' '), { folder: process.cwd() }))
        matches.push(match);
      if (options.json) printJson(matches);
      else if (matches.length === 0) printErrLine(`No session contains "${words.join(' ')}".`);
      else print(formatColumns([['name', 'title', 'last change', 'folder', 'text'], ...matches.map(matchRow)]));
      return 0;
    },
  },
  show: {
    usage: '<session> [--json]',
    description: 'print all messages',
    argumentCount: [1, 1],
    options: ['json', ...fleetOptions],
    async run([session = ''], options) {
      if (isInFleetStore(options))
        return withFleetSessions(options, async (fleetSessions, store) => {
          if (!options.json) return fleetSessions.showFleetSession(store, session);
          print(await fleetSessions.exportStoreSession(store, session, 'json'));
          return 0;
        });
      const sessionFile = findSession(options.dirs, session);
      if (options.json) {
        print(await exportSession(sessionFile, 'json'));
        return 0;
      }
      const { messages, calls, added, problems } = await readSession(sessionFile.file);
      const owner = getLockOwner(sessionFile.file);
      if (owner) printErrLine(`Process ${owner.pid} on ${owner.host} has it open since ${owner.time}.`);
      for (const { message } of problems) printErrLine(message);
      if (messages.length === 0) printErrLine('There are no messages yet.');
      else print(`${formatSessionTranscript(messages, calls, added)}\n`);
      return 0;
    },
  },
  rename: {
    usage: '<session> <new name>',
    description: 'rename it',
    argumentCount: [2, 2],
    options: [],
    async run([session = '', name = ''], { dirs }) {
      const from = findSession(dirs, session);
      const to = await renameSession(dirs, from, name);
      printErrLine(`"${escapeInvisible(from.name)}" is now "${escapeInvisible(to.name)}".`);
      return 0;
    },
  },
  title: {
    usage: '<session> <title>',
    description: 'give it a title for lists; an empty title removes it',
    argumentCount: [2, 2],
    options: [],
    async run([session = '', title = ''], { dirs }) {
      const sessionFile = findSession(dirs, session);
      await titleSession(sessionFile, title);
      const shown = summarizeSession(sessionFile)?.title ?? sessionFile.name;
      printErrLine(`The title of "${escapeInvisible(sessionFile.name)}" is "${escapeInvisible(shown)}".`);
      return 0;
    },
  },
  clone: {
    usage: '<session> [new name]',
    description: 'copy it with all branches; the default name is <session>-clone',
    argumentCount: [1, 2],
    options: [],
    async run([session = '', name], { dirs }) {
      const from = findSession(dirs, session);
      const to = await cloneSession(dirs, from, name);
      printErrLine(`A copy of "${escapeInvisible(from.name)}":`);
      print(`${escapeInvisibleLine(to.name)}\n`);
      return 0;
    },
  },
  export: {
    usage: '<session> [--format md|html|json] [-o <file>]',
    description: 'write it as Markdown, HTML or JSON',
    argumentCount: [1, 1],
    options: ['format', 'output', ...fleetOptions],
    async run([session = ''], options) {
      const format = parseExportFormat(options.format, options.output);
      return isInFleetStore(options)
        ? withFleetSessions(options, async (fleetSessions, store) =>
            writeExport(await fleetSessions.exportStoreSession(store, session, format), format, options),
          )
        : writeExport(await exportSession(findSession(options.dirs, session), format), format, options);
    },
  },
  verify: {
    usage: '[session] [--json]',
    description: 'verify the hash chain of the files',
    argumentCount: [0, 1],
    options: ['json', ...fleetOptions],
    run: ([session], options) =>
      isInFleetStore(options)
        ? withFleetSessions(options, (fleetSessions, store) =>
            fleetSessions.verifyFleetSessions(store, session, options.json === true),
          )
        : verifySessions(session, options),
  },
  delete: {
    usage: '<session>',
    description: 'move it to the trash',
    argumentCount: [1, 1],
    options: [],
    async run([session = ''], { dirs }) {
      const { name } = await trashSession(dirs, findSession(dirs, session));
      printErrLine(`"${escapeInvisible(name)}" is in the trash; "fairlead sessions restore" restores it.`);
      return 0;
    },
  },
  trash: {
    usage: '[--json] [--empty]',
    description: 'list the trash; --empty deletes all of it permanently',
    argumentCount: [0, 0],
    options: ['json', 'empty'],
    run(_, options) {
      const all = listTrash(options.dirs);
      if (options.empty) printErrLine(`Deleted permanently: ${emptyTrash(options.dirs)} of ${all.length}.`);
      else if (options.json) printJson(all);
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
    description: 'restore it from the trash',
    argumentCount: [1, 2],
    options: [],
    async run([name = '', newName], { dirs }) {
      const sessionFile = await restoreSession(dirs, name, newName);
      printErrLine(`"${escapeInvisible(sessionFile.name)}" is restored.`);
      return 0;
    },
  },
};

const sessionHeads = ({ all }: SessionsOptions): readonly string[] => [
  'name',
  'title',
  'last change',
  'status',
  'events',
  'size',
  'model',
  ...(all ? ['folder'] : []),
];

const matchRow = ({ name, title, changed, folder = '', excerpt }: SessionMatch): readonly string[] => [
  truncate(name, 40),
  title === name ? '' : truncate(title, 40),
  formatTime(changed),
  escapeInvisibleLine(folder),
  truncate(excerpt, 90),
];

const formatTime = (time: string): string => time.slice(0, 16).replace('T', ' ');

function truncate(text: string, max: number): string {
  const line = escapeInvisibleLine(text);
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}

function sessionRow(summary: SessionSummary, { all }: SessionsOptions): readonly string[] {
  const { name, title, changed, events, size, model, folder, waiting } = summary;
  const count = events === undefined ? '?' : String(events);
  return [
    truncate(name, 40),
    title === name ? '' : truncate(title, 50),
    formatTime(changed),
    waiting ? 'waiting' : '',
    count,
    formatBytes(size),
    truncate(model ?? '', 30),
    ...(all ? [escapeInvisibleLine(folder ?? '')] : []),
  ];
}

function formatBytes(size: number): string {
  if (size < 1000) return `${size} B`;
  return size < 1e6 ? `${Math.round(size / 1e3)} kB` : `${(size / 1e6).toFixed(1)} MB`;
}
