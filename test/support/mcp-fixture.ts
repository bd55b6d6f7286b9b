// Opens MCP test servers as the product does, and closes them with the test.
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { Json } from '../../src/core/index.ts';
import { memoryTrust } from '../../src/guards/index.ts';
import {
  openMcp,
  type McpInProcessConfig,
  type McpStdioConfig,
  type McpClients,
  type McpOptions,
  type McpServer,
} from '../../src/tools/mcp/index.ts';
import { serveMcpOn, type McpBehaviour } from './mcp-server.ts';
import { callTool, type ToolCallResult } from './tool-call.ts';

/** Open servers, and a function to call their tools. */
export type McpFixture = {
  readonly mcp: McpClients;
  readonly call: (name: string, input?: Json, signal?: AbortSignal) => Promise<ToolCallResult>;
};

/** Creates a server configured by the user. */
export const createUserServer = (
  name: string,
  reach: McpServer['transport'],
  more: Partial<McpServer> = {},
): McpServer => ({
  name,
  origin: 'user',
  source: 'test',
  transport: reach,
  ...more,
});

/** Creates the hostile server with this behavior. */
export const createHostileServer = (...args: readonly string[]): McpStdioConfig => ({
  type: 'stdio',
  command: process.execPath,
  args: [path.join(import.meta.dirname, 'mcp-hostile-server.ts'), ...args],
  env: {},
});

/** Creates a server in this process with this behavior. */
export const createInProcessServer = (behaviour: McpBehaviour): McpInProcessConfig => ({
  type: 'in-process',
  serve: (end) => serveMcpOn(behaviour)(end),
});

/** The block that marks a result as untrusted text. */
const outsideTextPattern = /^<outside-text from="the MCP server [^"]*">\n([^]*)\n<\/outside-text>$/;

/** Opens these servers until the test ends. */
export async function openMcpServers(
  t: TestContext,
  servers: readonly McpServer[],
  options: Partial<McpOptions> = {},
): Promise<McpFixture> {
  const mcp = await openMcp(servers, { trust: memoryTrust(), ...options });
  t.after(() => mcp.close());
  return {
    mcp,
    async call(name, input = {}, signal = new AbortController().signal) {
      const called = await callTool(mcp.tools, name, input, { signal });
      return { ...called, text: called.text.replace(outsideTextPattern, '$1') };
    },
  };
}

/** Creates a temporary folder for the test. */
export function createTempDir(t: TestContext): string {
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-mcp-')));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Waits until this is true. Fails after a timeout. */
export async function waitForCondition(holds: () => boolean): Promise<void> {
  for (let tried = 0; !holds(); tried++) {
    assert.ok(tried < 1000, 'the condition did not become true in time');
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

/** Returns true if a process exists and is not a zombie. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
