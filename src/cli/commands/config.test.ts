// Tests the `config` command by running the program.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { createProgramHome, type ProgramResult } from '../../../test/support/program-dirs.ts';

test('[J77] config: shows each value with its origin, never a secret, and changes only the user’s file', (t) => {
  const { config: kept, fairlead } = createProgramHome(t);
  const file = kept('config.json');
  const config = (...args: string[]): ProgramResult =>
    fairlead(['config', ...args], { OPENAI_API_KEY: 'sk-env', SANDBOX_CONTAINER_IMAGE: 'debian' });
  assert.equal(config('path').stdout, `${file}\n`);
  assert.equal(config('set', 'limits.turns', '7').status, 0);
  assert.equal(config('set', 'keys.GROQ_API_KEY', 'gsk-file').status, 0);
  writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), later: { x: 1 } }));
  assert.equal(config('get', 'limits.turns').stdout, '7\n');
  assert.equal(config('get', 'keys.GROQ_API_KEY').stdout, 'set\n');
  for (const { stdout } of [config(), config('list', '--json')]) assert.doesNotMatch(stdout, /sk-env|gsk-file/);
  const { stdout } = config();
  assert.match(stdout, /^sandbox\.image +debian +SANDBOX_CONTAINER_IMAGE in the environment$/m);
  assert.match(stdout, /^keys\.OPENAI_API_KEY +set +OPENAI_API_KEY in the environment$/m);
  assert.match(stdout, /^approve +ask +default$/m);
  assert.match(config('set', 'sandbox.image', 'alpine').stderr, /overrides it/);
  assert.equal(config('unset', 'keys.GROQ_API_KEY').status, 0);
  assert.equal(config('unset', 'sandbox.image').status, 0);
  assert.deepEqual(
    JSON.parse(readFileSync(file, 'utf8')),
    { limits: { turns: 7 }, later: { x: 1 } },
    'unknown settings are kept',
  );
  if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('config: an invalid value or key is one sentence and changes nothing; an error in the file can be fixed with the command', (t) => {
  const { config, fairlead } = createProgramHome(t);
  const file = config('config.json');
  for (const [args, status, text] of [
    [['set', 'limits.turns', 'many'], 1, /^limits\.turns must be a whole number above 0, not "many"\.\n$/],
    [['set', 'aprove', 'auto'], 1, /^There is no setting "aprove"\. Did you mean approve\?\n$/],
    [['set', 'approve'], 2, /^"fairlead config set" takes 2 arguments, not 1\.\nUsage:/],
    [['constructor'], 2, /^There is no "fairlead config constructor"\.\nUsage:/],
    [['frob'], 2, /^There is no "fairlead config frob"\.\nUsage:/],
    [['get', 'model'], 1, /^model is not set\.\n$/],
  ] as const) {
    const told = fairlead(['config', ...args]);
    assert.deepEqual([told.status, told.stdout], [status, '']);
    assert.match(told.stderr, text);
  }
  const help = fairlead(['config', '-h']);
  assert.deepEqual([help.status, help.stderr, help.stdout.startsWith('Usage: fairlead config')], [0, '', true]);
  assert.equal(existsSync(file), false);
  fairlead(['config', 'set', 'stream', 'on']);
  writeFileSync(file, '{"approve":"perhaps","stream":true}');
  assert.match(
    fairlead(['config']).stderr,
    /^approve in .*config\.json must be read-only, plan, ask, accept-edits or auto, not "perhaps"\./,
  );
  assert.equal(fairlead(['config', 'unset', 'approve']).status, 0);
  assert.equal(fairlead(['config']).status, 0);
});

test(
  'config edit: saved text replaces the file if it is valid; otherwise it is kept in a separate file',
  { skip: process.platform === 'win32' ? 'the editor is a shell script' : false },
  (t) => {
    const { home, config, fairlead } = createProgramHome(t);
    const file = config('config.json');
    const editor = path.join(home, 'editor.sh');
    const edit = (text: string): ProgramResult => {
      writeFileSync(editor, `#!/bin/sh\nprintf '%s' '${text}' > "$1"\n`);
      chmodSync(editor, 0o700);
      return fairlead(['config', 'edit'], { VISUAL: editor });
    };
    assert.equal(edit('{"stream": true}').status, 0);
    assert.equal(readFileSync(file, 'utf8'), '{"stream": true}');
    for (const [text, words] of [
      ['{"stream": maybe}', /^The edited file is not a config file: /],
      ['{"approve": "perhaps"}', /^approve in the edited file must be read-only, plan, ask, accept-edits or auto/],
    ] as const) {
      const told = edit(text);
      assert.equal(told.status, 1);
      assert.match(told.stderr, words);
      assert.equal(readFileSync(`${file}.rejected`, 'utf8'), text);
      assert.equal(readFileSync(file, 'utf8'), '{"stream": true}');
    }
  },
);
