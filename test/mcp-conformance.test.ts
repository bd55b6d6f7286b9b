// Runs the MCP conformance suite against our client: one test per scenario, two in parallel.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { bundleProgram } from './support/bundle.ts';
import { createTempDir } from './support/mcp-fixture.ts';
import { missingServers, getServerProgram } from './support/mcp-reference-servers.ts';

const run = promisify(execFile);
const client =
  missingServers || (await bundleProgram(path.join(import.meta.dirname, 'support/mcp-conformance-client.ts')));

const auth =
  'metadata-default metadata-var1 metadata-var2 metadata-var3 basic-cimd scope-from-www-authenticate scope-from-scopes-supported scope-omitted-when-undefined scope-step-up scope-retry-limit token-endpoint-auth-basic token-endpoint-auth-post token-endpoint-auth-none pre-registration 2025-03-26-oauth-metadata-backcompat 2025-03-26-oauth-endpoint-fallback resource-mismatch offline-access-scope offline-access-not-supported client-credentials-jwt client-credentials-basic cross-app-access-complete-flow';
const scenarios = [
  'initialize',
  'tools_call',
  'elicitation-sep1034-client-defaults',
  'sse-retry',
  ...auth.split(' ').map((name) => `auth/${name}`),
];

describe('[P63] the conformance suite', { concurrency: 2, skip: missingServers }, () => {
  test('every client scenario of the suite is run here', async () => {
    const { stdout } = await run(process.execPath, [getServerProgram('conformance'), 'list', '--client']);
    const listed = [...stdout.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
    assert.deepEqual(listed, scenarios);
  });

  for (const scenario of scenarios)
    test(scenario, async (t) => {
      const command = `"${process.execPath}" "${client}"`;
      const args = [getServerProgram('conformance'), 'client', '--command', command, '--scenario', scenario];
      // It exits with an error if a check failed, and writes its results below its working folder.
      const { stderr } = await run(process.execPath, args, { cwd: createTempDir(t), timeout: 60_000 });
      assert.match(stderr, /Passed: (\d+)\/\1, 0 failed/);
    });
});
