// OAuth login at the prompt: approved before a page opens, stored for its owner only, used in a pipe, and never logged.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { JsonObject } from '../src/core/index.ts';
import { calls, says } from '../src/testing/index.ts';
import { waitUntilArmed } from './support/tui.ts';
import { bin, createProgram } from './support/cli-harness.ts';
import { startOauthServer } from './support/oauth-server.ts';
import { writeFiles } from './support/program-dirs.ts';
import { noTerminal, openTerminal } from './support/terminal.ts';

const skip =
  noTerminal() ?? (process.platform === 'linux' ? undefined : 'the browser of this system cannot be replaced');
const callHiddenTool = (tool: string, input: JsonObject) => calls('use_tool', { tool, input });

test(
  '[P22, P27] the user is asked before a login page opens, the login then works in pipes too, and no session contains the token',
  skip === undefined ? {} : { skip },
  async (t) => {
    const at = await startOauthServer(t);
    const program = await createProgram(t, ({ results, prompt }) => {
      if (results.length === 0) return calls('load_tools', { names: ['oauth_login', 'http_request'] });
      if (results.length === 1 && !prompt.startsWith('use'))
        return callHiddenTool('oauth_flow', { name: 'things', api: at.url });
      const last = results.at(-1) ?? '';
      return last.includes('Status') || last.includes('none is present')
        ? says(`It says: ${last}`)
        : callHiddenTool('http_request', { url: `${at.url}/things`, auth: 'things' });
    });
    await program.seedModels('qwen3');
    await program.run(['config', 'set', 'network.private', '127.0.0.1']);
    // A browser that only fetches the page it is given, and writes a marker file.
    const browser = path.join(program.home, 'bin', 'xdg-open');
    const fetches = `fetch(process.argv[1]).then(() => {})`;
    writeFiles(path.dirname(browser), {
      'xdg-open': `#!/bin/sh\necho "$1" > "${program.home}/opened"\nexec "${process.execPath}" -e '${fetches}' "$1"\n`,
    });
    chmodSync(browser, 0o755);
    const env = { PATH: `${path.dirname(browser)}:${process.env['PATH']}` };
    const opened = (): boolean => existsSync(path.join(program.home, 'opened'));
    const always = ['--no-sandbox', '--auto-approve'];

    const alone = await program.run([...always, '--one-shot', '--prompt', `log in to ${at.url}`], { env });
    assert.match(alone.out, /A login needs a user, and none is present\./, alone.err);

    // The shell of the terminal resets PATH.
    const withBrowser = `PATH="${env.PATH}" "$@"; echo "(left with $?)"; read _`;
    const command = [process.execPath, bin, ...always, '--interactive', '--session-name', 'login'];
    const place = { columns: 100, rows: 40, cwd: program.cwd, env: program.env };
    const terminal = await openTerminal(t, ['sh', '-c', withBrowser, 'sh', ...command], place);
    await terminal.waitFor(/Fairlead with \w+, session/);
    await terminal.type(`log in to ${at.url}`);
    await terminal.keys('Enter');
    await terminal.waitFor(/Open a page of http:\/\/127[^?]*\?\s+Its\s+token\s+will\s+be\s+sent\s+to\s+http/);
    assert.ok(!opened() && at.grants.length === 0, 'nothing happens before the approval');
    await waitUntilArmed();
    await terminal.keys('y', 'Enter');
    await terminal.waitFor(/It says: Status 200\.[^]*"things":3/);
    assert.ok(opened());
    await terminal.keys('C-d');
    await terminal.waitFor(/\(left with 0\)/);

    const piped = await program.run(
      [...always, '--one-shot', '--prompt', `use the API at ${at.url}`, '--session-name', 'piped'],
      {
        env,
      },
    );
    assert.match(piped.out, /It says: Status 200\.[^]*"you":"Bearer \[/, piped.err);
    const kept = program.state('api-logins.json');
    assert.equal(statSync(kept).mode & 0o777, 0o600);
    assert.ok(readFileSync(kept, 'utf8').includes(at.accessToken));
    const sessions = readdirSync(program.data('sessions')).map((name) =>
      readFileSync(program.data('sessions', name), 'utf8'),
    );
    assert.ok(sessions.length >= 3);
    for (const secret of [at.accessToken, at.refreshToken]) assert.ok(!sessions.join('').includes(secret));
    assert.ok(!JSON.stringify(program.modelRequests().map(({ body }) => body)).includes(at.accessToken));
  },
);
