// Where the MCP servers of the user start: in the root of the disk, where no command can write, with paths that still mean the working directory and without its programs on PATH.
import path from 'node:path';
import { FairleadError, escapeInvisibleLine, isPathInside } from '../../core/index.ts';
import { commandRunners, interpreters, packageRunners, shells } from '../../guards/index.ts';
import { foldersOutside, isExecutable } from '../../tools/index.ts';
import type { McpServer, McpStdioConfig } from '../../tools/mcp/index.ts';

/** A path relative to the working directory, as a word, a value or a part of a value: `.`, `--root=./docs`, `.:/data`. */
const relativePath = /(?<=^|[=:,])\.{1,2}(?:\/[^:,]*)?(?=[:,]|$)/g;

/** Returns how a server of the user or an editor starts. Only an explicit `cwd` is used as it is: any program may take programs, modules or settings of the directory in which it starts. */
export function withStartFolder(
  { transport }: Pick<McpServer, 'transport'>,
  config: McpStdioConfig,
  root: string,
): McpStdioConfig {
  const { command, args, cwd } = config;
  if (transport.type === 'stdio' && transport.cwd !== undefined)
    return { ...config, cwd: path.resolve(root, cwd ?? transport.cwd) };
  return {
    ...config,
    command: /[/\\]/.test(command) ? path.resolve(root, command) : command,
    args: args.map((word) => word.replaceAll(relativePath, (found) => path.resolve(root, found))),
    cwd: path.parse(root).root,
  };
}

const programName = (command: string): string => path.basename(command).replace(/\.(exe|cmd|bat)$/i, '');

/** Whether a program on this command line, also one that another program starts, runs modules or packages of the directory in which it starts. */
export const runsModules = (argv: readonly string[]): boolean =>
  argv.some((word, at) => {
    const name = programName(word);
    if (packageRunners.test(name) || commandRunners.test(name)) return true;
    const hasCode = argv.slice(at + 1).some((each) => /^-[a-z]*[mc]$/i.test(each));
    return hasCode && (interpreters.test(name) || shells.test(name));
  });

/** Whether a program on this command line runs what is in a folder of the working directory: `npx ./server`, `uv --directory . run x`. What follows the name of the program is its own argument: `npx server .`. */
export const takesFolder = (argv: readonly string[], root: string): boolean =>
  argv.some((word, at) => {
    const name = programName(word);
    const names =
      commandRunners.test(name) || name === 'env' ? 2 : packageRunners.test(name) || interpreters.test(name) ? 1 : 0;
    let seen = 0;
    return argv.slice(at + 1).some((each) => {
      if (seen >= names) return false;
      if (!each.startsWith('-')) seen++;
      return each.split(/[=:,]/).some((part) => path.isAbsolute(part) && isPathInside(root, part));
    });
  });

/** Returns the configuration with a PATH without the folders of the working directory. The program itself may have been started by a package manager, which adds them. */
export function withSafePath({ name }: McpServer, config: McpStdioConfig, root: string): McpStdioConfig {
  const { command, env } = config;
  // Nothing is outside the root of the disk.
  if (root === path.parse(root).root) return config;
  const search = env['PATH'] ?? process.env['PATH'] ?? '';
  const folders = foldersOutside(root, search);
  const isFound = (folder: string): boolean => isExecutable(path.join(folder, command));
  const others = search.split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  if (!/[/\\]/.test(command) && !folders.some(isFound) && others.some(isFound))
    throw new FairleadError(
      'mcp/program-inside',
      `The MCP server ${escapeInvisibleLine(name)} was not started: ${escapeInvisibleLine(command)} is only in the working directory, where commands can change it.`,
      { blame: 'user', hint: 'Install it elsewhere, or give its path as the command and approve it.' },
    );
  const temporary = process.env['TMPDIR'];
  const isTemporaryInside = temporary !== undefined && isPathInside(root, path.resolve(temporary));
  return {
    ...config,
    env: {
      ...(isTemporaryInside ? { TMPDIR: '' } : {}),
      ...env,
      PATH: folders.join(path.delimiter) || '/usr/bin:/bin',
    },
  };
}
