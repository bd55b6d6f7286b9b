// Tests slash commands about the project and the program in a real terminal: /status, /effort, /theme, /init, /diff, /config, /skills, /hooks.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calls, says } from '../src/testing/index.ts';
import { createPromptEnvironment, getSentRequests, openPrompt, writeFiles } from './support/terminal-prompt.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();

function noGit(): string | false {
  try {
    execFileSync('git', ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'git is not installed';
  }
}

test(
  '/status, /config, /skills, /hooks and /effort say what is in use; /theme changes the colors and is kept',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, () => says('Hi.'), {
      files: { '.claude/skills/tidy/SKILL.md': '---\nname: tidy\ndescription: Tidies up.\n---\nTidy.\n' },
    });
    const prompt = await openPrompt(t, environment, ['--refresh-models', '--model', 'alpha', '-n', 'named'], {
      columns: 120,
    });
    const status = await prompt.enterAndWait('/status', /^Status$[^]*^settings +\S+config\.json/m);
    assert.match(status, /^model +alpha$/m);
    assert.match(status, /^text goes to +this machine/m);
    assert.match(status, new RegExp(`^folder +${environment.cwd}`, 'm'));
    assert.match(status, /^session file +\S+session_named\.jsonl/m);
    assert.match(status, /^sandbox +none: /m);
    assert.match(status, /^MCP servers +none/m);
    await prompt.enterAndWait('/effort', /· Reasoning effort: the model's default\./);
    await prompt.enterAndWait('/effort wild', /! Usage: \/effort off\|low\|medium\|high/);
    await prompt.enterAndWait('/effort high', /· Reasoning effort: high\.[^]*effort high/);
    await prompt.enterAndWait('think', /^Hi\.$/m);
    const { body } = environment.server.requests.at(-1) ?? {};
    assert.equal((body as { readonly reasoning_effort?: unknown }).reasoning_effort, 'high');
    await prompt.enterAndWait('/config', /^Settings$[^]*^theme +auto +default[^]*Your settings file/m);
    await prompt.enterAndWait('/skills', /^tidy +Tidies up\./m);
    await prompt.enterAndWait('/hooks', /· No hooks configured\./);
    await prompt.waitFor(/␛\[36m(␛\[49m)?> /, 5000, { colors: true });
    await prompt.enterAndWait('/theme light', /· Theme: light\./);
    await prompt.waitFor(/␛\[38;5;25m(␛\[49m)?> /, 5000, { colors: true });
    await prompt.enterAndWait('/theme none', /· Theme: none\./);
    assert.doesNotMatch(await prompt.screen({ colors: true }), /␛\[3[0-8][;m]/);
    const file = path.join(environment.env['XDG_CONFIG_HOME'] ?? '', 'fairlead', 'config.json');
    assert.equal((JSON.parse(readFileSync(file, 'utf8')) as { readonly theme?: unknown }).theme, 'none');
  },
);

test('/init asks the model for AGENTS.md, and the file needs approval as any change', { skip }, async (t) => {
  const environment = await createPromptEnvironment(t, ({ results }) =>
    results.length === 0 ? calls('write_file', { path: 'AGENTS.md', content: '# Project\n' }) : says('Written.'),
  );
  const prompt = await openPrompt(t, environment);
  await prompt.enterAndWait('/init', /\? Create AGENTS\.md\?/);
  assert.match(getSentRequests(environment.server)[0]?.messages.at(-1)?.text ?? '', /^Write the file AGENTS\.md/);
  await prompt.keys('Escape');
});

test(
  '/diff shows the changes since the last commit in colors, and the new files',
  { skip: skip || noGit() },
  async (t) => {
    const environment = await createPromptEnvironment(t, () => says('Hi.'), { files: { 'a.txt': 'one\ntwo\n' } });
    const git = (...args: readonly string[]): unknown =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: environment.cwd });
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'first');
    const prompt = await openPrompt(t, environment);
    await prompt.enterAndWait('/diff', /· No changes\./);
    writeFiles(environment.cwd, { 'a.txt': 'one\nchanged\n', 'new.txt': 'x' });
    await prompt.enterAndWait('/diff', /^ +-two\n +\+changed[^]*new file: new\.txt/m);
    assert.match(await prompt.screen({ colors: true }), /␛\[32m\+changed/);
  },
);

test(
  '[A40] [A115] /private marks a value for this and later sessions, and /status lists private data and untrusted text',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(
      t,
      ({ results }) => (results.length === 0 ? calls('read_file', { path: '.env' }) : says('Read.')),
      { files: { '.env': 'DOOR=open\n' } },
    );
    const prompt = await openPrompt(t, environment, ['--refresh-models', '--model', 'alpha', '--auto-approve'], {
      columns: 140,
    });
    await prompt.enterAndWait('/private', /· No value is marked: \/private <value>\./);
    await prompt.enterAndWait('/private Karla Blumfeld', /· Marked as "private 1"\./);
    await prompt.enterAndWait('/private', /· Private values \(dlp\.json\): private 1/);
    await prompt.enterAndWait('read it', /^Read\.$/m);
    const status = await prompt.enterAndWait('/status', /^Status$[^]*^settings +\S+config\.json/m);
    assert.match(status, /^private data +read_file \.env \(a private file\)/m);
    assert.match(status, /^untrusted text +read_file \.env/m);
    assert.match(status, /^egress +locked: /m);
  },
);
