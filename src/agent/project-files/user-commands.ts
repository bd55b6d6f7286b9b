// User commands: Markdown files whose text becomes the prompt.
import path from 'node:path';
import { tryRealPath, type FileProblem } from './paths.ts';
import { parseFrontmatter, textField } from './frontmatter.ts';
import { collectFiles, boundaryError, getCommandDirs, type ProjectLocation, type ResourceDir } from './search-dirs.ts';
import { readTextFile } from './text-file.ts';

/** A command from a file. */
export type UserCommand = {
  /** The names of its directories and its file, joined by colons. */
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string;
  /** The model that the author suggests; it is not applied automatically. */
  readonly model?: string;
  /** The tools that the author suggests, as written; they grant nothing. */
  readonly allowedTools?: string;
  /** The prompt, with placeholders for arguments. */
  readonly body: string;
  readonly file: string;
  readonly scope: 'personal' | 'project';
};

/** The commands by unique name, and the files that were skipped. */
export type UserCommands = { readonly commands: readonly UserCommand[]; readonly problems: readonly FileProblem[] };

const maxCommands = 500;
const maxCommandBytes = 262_144;
const maxDepth = 5;

/** Finds the commands for a working directory. The user's own take precedence over a project's of the same name. */
export async function findUserCommands(location: ProjectLocation): Promise<UserCommands> {
  const problems: FileProblem[] = [];
  const byName = new Map<string, UserCommand>();
  const seen = new Set<string>();
  for (const dir of getCommandDirs(location))
    for (const { name: file } of collectFiles(dir.folder, maxDepth, 2 * maxCommands, problems)) {
      const full = path.join(dir.folder, file);
      const real = tryRealPath(full);
      if (!/\.md$/i.test(file) || real === undefined || seen.has(real)) continue;
      seen.add(real);
      const name = file.slice(0, -'.md'.length).split('/').join(':');
      const command = await readCommand(name, full, dir);
      const earlier = byName.get(name);
      if ('why' in command) problems.push({ path: full, why: command.why });
      else if (earlier)
        problems.push({ path: full, why: `is hidden by the command of the same name in ${earlier.file}` });
      else if (byName.size >= maxCommands)
        problems.push({ path: full, why: `was left out: there are more than ${maxCommands} commands` });
      else byName.set(name, command);
    }
  return { commands: [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

async function readCommand(
  name: string,
  file: string,
  dir: ResourceDir,
): Promise<UserCommand | { readonly why: string }> {
  if (!/^[\w][\w.-]*(:[\w][\w.-]*)*$/.test(name))
    return { why: 'has a name that cannot be typed as a command: letters, digits, _, - and . can' };
  const outside = boundaryError(dir, file);
  if (outside) return outside;
  const read = readTextFile(file, maxCommandBytes);
  if ('wrong' in read) return read;
  if (read.cut) return { why: `is longer than ${maxCommandBytes} bytes` };
  const front = await parseFrontmatter(read.text);
  if ('why' in front) return front;
  const body = front.body.trim();
  if (body === '') return { why: 'is empty' };
  const [hint, model, tools] = ['argument-hint', 'model', 'allowed-tools'].map((key) => textField(front.fields, key));
  return {
    name,
    description: textField(front.fields, 'description') ?? firstLine(body),
    ...(hint === undefined ? {} : { argumentHint: hint }),
    ...(model === undefined ? {} : { model }),
    ...(tools === undefined ? {} : { allowedTools: tools }),
    body,
    file,
    scope: dir.scope,
  };
}

function firstLine(body: string): string {
  const line = (body.split('\n')[0] ?? '').replace(/^#+\s*/, '').trim();
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
