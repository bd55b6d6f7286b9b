// Reads the MCP configuration of another program, and declares the tools of the servers that are known by their package or name. Starts nothing.
import { readFileSync, statSync } from 'node:fs';
import { FairleadError, errorMessage, isObject } from '../../core/index.ts';
import {
  findKnownServer,
  loadServerDeclarations,
  parseServerTools,
  type CollectedDeclaration,
} from '../../guards/flow/index.ts';
import { parseMcpConfig, serverNames, type McpServer } from '../../tools/mcp/index.ts';

const maxFileBytes = 4_000_000;

/** The declared tools of a configuration, and the servers whose tools are not known. */
export type ForeignTools = {
  readonly collected: readonly CollectedDeclaration[];
  readonly unknownServers: readonly string[];
  readonly problems: readonly string[];
};

/** Reads a file with `mcpServers` or `servers`. Throws if it cannot be read. */
export async function readForeignTools(file: string): Promise<ForeignTools> {
  const { servers, problems } = parseMcpConfig(readServers(file), { file, origin: 'user' });
  return { ...(await declareServers(servers)), problems };
}

/** Declares the tools of servers that were not started: the known ones of the user as written, and any tool for the others. */
export async function declareServers(servers: readonly McpServer[]): Promise<Omit<ForeignTools, 'problems'>> {
  const known = await loadServerDeclarations();
  const collected: CollectedDeclaration[] = [];
  const unknownServers: string[] = [];
  for (const server of servers) {
    const found = findKnownServer(known, { isOwn: server.origin === 'user', servers: serverNames(server) });
    if (!found) {
      unknownServers.push(server.name);
      const declaration = { effect: 'external', inputs: {}, output: 'untrusted' } as const;
      collected.push({ tool: `${server.name}: any tool`, origin: 'automatic', declaration });
      continue;
    }
    for (const [tool, declaration] of parseServerTools(found))
      collected.push({ tool: `${server.name}: ${tool}`, origin: 'written', declaration });
  }
  return { collected, unknownServers };
}

function readServers(file: string): string {
  try {
    if (statSync(file).size > maxFileBytes) throw new Error('it is too large.');
    const text = readFileSync(file, 'utf8');
    const content: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    // Some programs name the key `servers`.
    return isObject(content) && content['mcpServers'] === undefined && isObject(content['servers'])
      ? JSON.stringify({ mcpServers: content['servers'] })
      : text;
  } catch (error) {
    throw new FairleadError('guards/no-file', `${file} cannot be read: ${errorMessage(error)}`, { blame: 'user' });
  }
}
