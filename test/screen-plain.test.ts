// Tests that the screen, plain mode, a dumb terminal and a pipe show the same conversation.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { promisify } from 'node:util';
import { calls, says } from '../src/testing/index.ts';
import { waitUntilArmed } from './support/tui.ts';
import { bin } from './support/cli-harness.ts';
import {
  createPromptEnvironment,
  scriptByPrompt,
  openPrompt,
  type PromptEnvironment,
} from './support/terminal-prompt.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();
const run = promisify(execFile);
const first = ['--refresh-models', '--model', 'alpha'];

/** A prompt that starts with "run" is a command; others are answered. */
const model = scriptByPrompt((text) =>
  text.startsWith('run ') ? calls('run_command', { command: text.slice(4) }) : says(`It is **${text}**.`),
);

/** An input, the output it must cause, and the key that answers its question. */
const conversationSteps: readonly {
  readonly line: string;
  readonly brings: RegExp;
  readonly key?: string;
  readonly after?: RegExp;
}[] = [
  { line: 'hello', brings: /It is (\*\*)?hello(\*\*)?\./ },
  {
    line: 'run echo one',
    brings: /\$ echo one\n[^]*\[y\/N\/a\]/,
    key: 'n',
    after: /denied[^]*Result: Denied by user/,
  },
  {
    line: 'run echo two',
    brings: /\$ echo two\n[^]*\[y\/N\/a\]/,
    key: 'a',
    after: /Allowed for this session: run_command: echo two \(in [^]*Result: two/,
  },
  { line: '!echo mine', brings: /shell echo mine[^]*\n +mine\n/ },
  { line: '/session rename talk', brings: /" is now "talk"\./ },
  { line: '/model beta', brings: /The next answer comes from beta\./ },
  { line: '/nope', brings: /There is no command \/nope/ },
  { line: '/tree', brings: /Branches: \/tree <number> switches to one\n1 +"hello"/ },
  { line: '/cost', brings: /Total: \$0\.0000, 5 turns/ },
  { line: '/session new', brings: /A new session: "\d{4}-/ },
  { line: 'afresh', brings: /It is (\*\*)?afresh(\*\*)?\./ },
];

for (const [ui, args, env, send] of [
  ['the screen', first, {}, false],
  ['the screen without colors', first, { NO_COLOR: '1' }, false],
  ['plain mode', ['--plain', ...first], {}, true],
  ['plain mode in a dumb terminal', first, { TERM: 'dumb' }, true],
] as const)
  test(`[J2, A75, A77, A78] ${ui}: everything is shown`, { skip }, async (t) => {
    const prompt = await openPrompt(t, await createPromptEnvironment(t, model), args, { env });
    for (const { line, brings, key, after } of conversationSteps) {
      await prompt.enterAndWait(line, brings);
      if (key === undefined || after === undefined) continue;
      await waitUntilArmed();
      await prompt.keys(key, 'Enter');
      await prompt.waitFor(after);
    }
    const seen = await prompt.screen({ colors: true, back: true });
    if (ui !== 'the screen' && ui !== 'plain mode') assert.doesNotMatch(seen, /␛\[(3|9)[0-7]/, 'no colors');
    if (ui === 'the screen') assert.match(seen, /␛\[3\d/);
    if (send) assert.match(seen, /\[tool\] run_command: denied/);
    if (ui === 'plain mode') {
      await prompt.enterAndWait('/rewind', /Go back to before which message\?[^]*\n +1\. afresh/);
      await waitUntilArmed();
      await prompt.enterAndWait('1', /Back at that point\.[^\n]*\n(\[status\] [^>]*\n)?> afresh *$/m);
      await prompt.keys('C-u');
    }
    await prompt.keys('C-d');
    await prompt.waitFor(/^(> )?exit code 0$/m);
  });

test('[J2, A75, A77, A78] a pipe: everything is shown, in order and without a control character', async (t) => {
  const environment = await createPromptEnvironment(t, model);
  const said = await runPiped(
    environment,
    conversationSteps.flatMap(({ line, key }) => (key === undefined ? [line] : [line, key])),
  );
  let rest = said;
  for (const { brings, after } of conversationSteps)
    for (const text of after ? [brings, after] : [brings]) {
      const found = text.exec(rest);
      assert.ok(found, `${text.source} is not in:\n${rest}`);
      rest = rest.slice(found.index);
    }
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(said, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});

async function runPiped(environment: PromptEnvironment, lines: readonly string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], ...environment.env };
  const running = run(process.execPath, [bin, '--interactive', '--no-sandbox', ...first], {
    cwd: environment.cwd,
    env,
    timeout: 20_000,
  });
  running.child.stdin?.end(`${lines.join('\n')}\n`);
  return (await running).stdout;
}
