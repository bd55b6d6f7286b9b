// Completes slash commands and their arguments, and searches files for a path after an @.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Conversation } from '../../coding-agent/index.ts';
import type { GitWorkspaces } from '../../tools/git/index.ts';
import type { UiChoice, Completer, Suggestions } from '../tui/ui.ts';
import { listSlashCommands, parseSlashCommand } from '../slash-commands/registry.ts';

const maxSuggestions = 50;

/** Where git lists files. */
type GitReader = Pick<GitWorkspaces, 'read' | 'isConfined'>;

/** Creates the completer of a conversation. */
export function createCompleter(conversation: Conversation): Completer {
  return async (before, signal) => {
    const mention = /(?:^|\s)@([^\s@]*)$/.exec(before);
    if (mention) return completeFiles(conversation.agent.gitReader, before, mention[1] ?? '', signal);
    if (!before.startsWith('/') || before.includes('\n')) return undefined;
    const space = before.indexOf(' ');
    if (space < 0) return filterChoices(0, before, commandChoices(conversation));
    const parsed = parseSlashCommand(before, conversation.agent.commands);
    const choices = await parsed?.command.complete?.(parsed.args, { conversation });
    return choices && parsed ? filterChoices(before.length - parsed.args.length, parsed.args, choices) : undefined;
  };
}

const commandChoices = (conversation: Conversation): readonly UiChoice[] =>
  listSlashCommands(conversation.agent.commands).map(({ name, description, argumentHint }) => ({
    value: `/${name}${argumentHint === undefined ? '' : ' '}`,
    label: `/${name}`,
    description,
  }));

/** Returns the choices that contain the typed text, prefix matches first; a complete match gets no trailing space. */
function filterChoices(from: number, typed: string, choices: readonly UiChoice[]): Suggestions | undefined {
  const word = typed.toLowerCase();
  const rank = ({ value }: UiChoice): number => (value === typed ? 0 : value.toLowerCase().startsWith(word) ? 1 : 2);
  const matches = choices
    .filter(({ value }) => value.toLowerCase().includes(word))
    .map((choice) => (choice.value.trimEnd() === typed ? { ...choice, value: typed } : choice))
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, maxSuggestions);
  return matches.some(({ value }) => value !== typed) ? { from, choices: matches } : undefined;
}

async function completeFiles(
  reader: GitReader,
  before: string,
  typed: string,
  signal: AbortSignal,
): Promise<Suggestions | undefined> {
  const paths = await searchFiles(reader, typed, maxSuggestions, signal);
  const from = before.length - typed.length - 1;
  return paths.length ? { from, choices: paths.map((path) => ({ value: `@${path}`, label: path })) } : undefined;
}

const maxListedFiles = 20_000;
const cacheMs = 5000;
let cachedListing:
  | { readonly cwd: string; readonly at: number; readonly files: Promise<readonly string[]> }
  | undefined;

/** Returns the paths below a directory that match the typed text, best match first. */
export async function searchFiles(
  reader: GitReader,
  typed: string,
  max: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { cwd } = reader.read;
  if (!cachedListing || cachedListing.cwd !== cwd || Date.now() - cachedListing.at > cacheMs)
    cachedListing = { cwd, at: Date.now(), files: listFiles(reader) };
  const all = await cachedListing.files;
  if (signal.aborted) return [];
  const word = typed.toLowerCase();
  const rank = (file: string): number => {
    const low = file.toLowerCase();
    if (low.startsWith(word)) return 0;
    return path.basename(low).startsWith(word) ? 1 : 2;
  };
  return all
    .filter((file) => file.toLowerCase().includes(word))
    .map((file) => ({ file, rank: rank(file) }))
    .toSorted((a, b) => a.rank - b.rank || a.file.length - b.file.length)
    .slice(0, max)
    .map(({ file }) => file);
}

async function listFiles(reader: GitReader): Promise<readonly string[]> {
  return (await listGitFiles(reader)) ?? (await walkFiles(reader.read.cwd));
}

/** Runs on a keystroke, perhaps in an untrusted repository: git must not run anything that the repository configures. */
async function listGitFiles({ read: workspace, isConfined }: GitReader): Promise<readonly string[] | undefined> {
  const { gitOutput } = await import('../../tools/git/index.ts');
  try {
    const text = await gitOutput(['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      workspace,
      isConfined,
      signal: AbortSignal.timeout(5000),
      seconds: 3,
      maxOutput: 2 ** 25,
    });
    return text?.split('\0').filter(Boolean).slice(0, maxListedFiles);
  } catch {
    return undefined;
  }
}

/** Breadth first and bounded, so that a home directory does not delay the completion. */
async function walkFiles(cwd: string): Promise<readonly string[]> {
  const files: string[] = [];
  const dirs = [''];
  for (let at = 0; at < dirs.length && at < 2000 && files.length < maxListedFiles; at++) {
    const dir = dirs[at] as string;
    const entries = await readdir(path.join(cwd, dir), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.name === 'node_modules' || entry.name.startsWith('.')) continue;
      const name = path.join(dir, entry.name);
      if (entry.isDirectory()) dirs.push(name);
      else files.push(name);
    }
  }
  return files;
}
