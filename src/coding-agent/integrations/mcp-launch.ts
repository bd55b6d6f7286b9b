// How local MCP servers are started, so that none runs outside the sandbox what a command inside could write: those of a project in the sandbox, the others in the root of the disk or with files that the user approved.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, escapeInvisibleLine, isObject, isPathInside } from '../../core/index.ts';
import {
  findChangedFile,
  findFilesOfArgv,
  findFilesOfRunner,
  type BoundFile,
  type Sandbox,
} from '../../guards/index.ts';
import { expandVariables, type McpLaunch, type McpServer, type McpStdioConfig } from '../../tools/mcp/index.ts';
import { withStartFolder, takesFolder, runsModules, withSafePath } from './mcp-start-folder.ts';

type Dirs = { readonly cwd: string; readonly configDir: string };

/** Adds to each server that runs outside the sandbox the files of the working directory that it runs, so that an approval covers them. */
export function bindMcpServers(servers: readonly McpServer[], { cwd, configDir }: Dirs): readonly McpServer[] {
  const isOutside = runsServersOutside(configDir, cwd);
  return servers.map((server) => {
    const { transport, origin, name } = server;
    if (transport.type !== 'stdio' || (origin === 'project' && !isOutside)) return server;
    const files = findServerFiles(server, expandIfPossible(transport, name, origin), cwd);
    return origin === 'project' || files.length > 0 ? { ...server, files } : server;
  });
}

/** Whether a server is started in the sandbox: those of a project, unless the user lets them run outside. */
export const isConfinedServer = ({ origin, transport, files }: McpServer): boolean =>
  origin === 'project' && transport.type === 'stdio' && files === undefined;

/** Variables may name files too. A server with a variable that is missing does not start. */
function expandIfPossible(transport: McpStdioConfig, name: string, origin: McpServer['origin']): McpStdioConfig {
  try {
    return origin === 'editor' ? transport : expandVariables(transport, process.env, name);
  } catch {
    return transport;
  }
}

function findServerFiles(server: McpServer, config: McpStdioConfig, root: string): readonly BoundFile[] {
  const isProject = server.origin === 'project';
  const { command, args, cwd = root } = isProject ? config : withStartFolder(server, config, root);
  const argv = [command, ...args];
  if (isProject) return findFilesOfRunner(argv, { cwd, root });
  const isRunner = takesFolder(argv, root) || (isPathInside(root, cwd) && runsModules(argv));
  // A part of a word may name a file too: file:./x.
  const words = argv.flatMap((word) => [word, ...word.split(/[=:,]/).slice(1)]);
  return (isRunner ? findFilesOfRunner : findFilesOfArgv)(words, { cwd, root });
}

/** Options of createMcpLaunch. */
export type McpLaunchOptions = Dirs & { readonly findSandbox: () => Sandbox | Promise<Sandbox> };

/** Creates the function that decides before each start how a server is started. */
export function createMcpLaunch({ cwd, configDir, findSandbox }: McpLaunchOptions): McpLaunch {
  return async (server, config) => {
    if (isConfinedServer(server)) {
      const sandbox = await findSandbox();
      // The user turned the sandbox off.
      return sandbox.name === 'none' ? config : confineServer(server, config, { cwd, configDir, sandbox });
    }
    const changed = findChangedFile(server.files ?? []);
    if (changed !== undefined) throw changedFileError(server, changed);
    return withSafePath(server, server.origin === 'project' ? config : withStartFolder(server, config, cwd), cwd);
  };
}

const changedFileError = ({ name }: McpServer, file: string): FairleadError =>
  new FairleadError(
    'mcp/changed',
    `The MCP server ${escapeInvisibleLine(name)} was not started: ${escapeInvisibleLine(file)}, which it may run, changed since the server was approved.`,
    { blame: 'user', hint: `Check the file, then approve it: fairlead mcp approve ${escapeInvisibleLine(name)}` },
  );

/** Returns the command line of a server in the sandbox. Only variables that look like keys are in the environment outside: others could change how the sandbox itself starts. */
function confineServer(
  { name }: McpServer,
  config: McpStdioConfig,
  { cwd: root, configDir, sandbox }: Dirs & { readonly sandbox: Sandbox },
): McpStdioConfig {
  const { command, args, env, cwd = root } = config;
  if (!sandbox.confine)
    throw new FairleadError(
      'mcp/no-sandbox',
      `The MCP server ${escapeInvisibleLine(name)} of the project runs only in a sandbox, and none here can run it. ${sandbox.description}`,
      {
        blame: 'user',
        hint: `To run the servers of this project as you, add ${JSON.stringify(root)} to the list "outsideSandbox" in ${path.join(configDir, 'mcp.json')}.`,
      },
    );
  const variables = Object.entries(env);
  const inside = variables.filter(([key]) => !looksLikeKey(key)).map(([key, value]) => `${key}=${value}`);
  const [program, ...rest] = sandbox.confine(['/usr/bin/env', ...inside, command, ...args], cwd);
  return {
    type: 'stdio',
    command: program,
    args: rest,
    env: Object.fromEntries(variables.filter(([key]) => looksLikeKey(key))),
    cwd: path.parse(root).root,
  };
}

/** The command line of a program is visible to other users of the machine, so keys are not in it. */
const looksLikeKey = (name: string): boolean =>
  /KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL/i.test(name) && !/^(LD|DYLD|BASH|GLIBC)_/i.test(name);

/** Whether the user's own file lets the servers of a project run outside the sandbox: `"outsideSandbox": ["/path/of/project"]`. */
function runsServersOutside(configDir: string, cwd: string): boolean {
  try {
    const data: unknown = JSON.parse(readFileSync(path.join(configDir, 'mcp.json'), 'utf8'));
    const folders: unknown = isObject(data) ? data['outsideSandbox'] : undefined;
    return Array.isArray(folders) && folders.includes(cwd);
  } catch {
    // A file that cannot be read allows nothing; the error is reported where its servers are read.
    return false;
  }
}
