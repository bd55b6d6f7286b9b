// Locates the reference MCP servers and the conformance suite, which have too many packages to be a dependency.
import { existsSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const serversDir = process.env['FAIRLEAD_MCP_SERVERS'] ?? path.join(root, 'node_modules/.cache/mcp-servers');
const packageNames = ['server-everything', 'server-filesystem', 'server-memory', 'conformance'];
const versions = ['2026.8.31', '2026.8.31', '2026.8.31', '0.1.16'];

/** Returns the program of an installed package. */
export const getServerProgram = (name: string): string =>
  path.join(serversDir, 'node_modules/@modelcontextprotocol', name, 'dist/index.js');

const installArgs = packageNames.map((name, i) => `@modelcontextprotocol/${name}@${versions[i]}`).join(' ');

/** Why tests with them are skipped; false if they are installed. */
export const missingServers: string | false = packageNames.every((name) => existsSync(getServerProgram(name)))
  ? false
  : `the MCP servers are not installed: npm install --prefix ${path.relative(root, serversDir)} ${installArgs}`;
