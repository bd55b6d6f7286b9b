// Tests the completion scripts in their shells, through the completion interface and by typing in a terminal.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { bin } from '../../../../test/support/program-dirs.ts';
import { noTerminal, openTerminal } from '../../../../test/support/terminal.ts';
import { commands } from '../../command-table.ts';
import { cliOptions } from '../../args/options.ts';
import { createSessionFile } from '../../../sessions/index.ts';
import { createCompletionSpec } from './completion-spec.ts';

const root = mkdtempSync(path.join(tmpdir(), 'fairlead-completions-'));
after(() => rmSync(root, { recursive: true, force: true }));

/** Creates a home with hostile session and model names, and a `fairlead` that prints its arguments. */
const nasty = [
  'two words',
  `it's "so"`,
  '$(touch PWNED)',
  '`touch PWNED`',
  'a;b&c|d',
  'x:y z',
  '*',
  '-dash',
  '~',
  '!h',
];
const work = path.join(root, 'work');
const env = {
  PATH: `${path.join(root, 'bin')}:${process.env['PATH']}`,
  HOME: root,
  ZDOTDIR: root,
  XDG_DATA_HOME: path.join(root, 'data'),
  XDG_STATE_HOME: path.join(root, 'state'),
  XDG_CONFIG_HOME: path.join(root, 'config'),
};
for (const dir of ['bin', 'work', 'state/fairlead', 'config']) mkdirSync(path.join(root, dir), { recursive: true });
for (const name of [...nasty, 'line\nbreak']) createSessionFile({ data: path.join(root, 'data', 'fairlead') }, name);
writeFileSync(path.join(work, 'a prompt.md'), '');
writeFileSync(
  path.join(root, 'state', 'fairlead', 'models.jsonl'),
  ['llama3:8b', 'llama3:70b', 'odd $(touch PWNED)']
    .map((id) => `${JSON.stringify({ id, provider: 'ollama', url: '' })}\n`)
    .join(''),
);
const shim = (test: string): string => `#!/bin/sh
if ${test}; then exec '${process.execPath}' '${bin}' "$@"; fi
printf '<%s>' "$@"; echo
`;
writeFileSync(path.join(root, 'bin', 'fairlead'), shim('[ "$1" = completions ]'), { mode: 0o755 });

const script = (shell: string): string =>
  execFileSync(process.execPath, [bin, 'completions', shell], { env, encoding: 'utf8' });
const missing = (shell: string): string | false =>
  spawnSync(shell, ['-c', 'true']).error ? `${shell} is not installed` : false;
for (const shell of ['bash', 'zsh', 'fish']) writeFileSync(path.join(root, shell), script(shell));

/** Returns the suggestions of bash for these words, which `COMP_WORDBREAKS` has already split; the last one is being typed. */
function inBash(text: readonly string[], line = text.join(' ')): readonly string[] {
  const code = `source "$1"; shift; COMP_LINE=$1 COMP_POINT=\${#1}; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _fairlead; printf '%s\\0' "\${COMPREPLY[@]}"`;
  const ran = spawnSync('bash', ['--norc', '-c', code, 'bash', path.join(root, 'bash'), line, ...text], {
    env,
    cwd: work,
    encoding: 'utf8',
  });
  assert.deepEqual([ran.status, ran.stderr], [0, '']);
  return ran.stdout.split('\0').filter(Boolean);
}

/** Returns the value of a word in bash. */
const asWord = (word: string): string =>
  execFileSync('bash', ['--norc', '-c', `printf %s ${word}`], { cwd: work, encoding: 'utf8' });

const nothingRan = (): void => assert.deepEqual(readdirSync(work), ['a prompt.md']);

test('bash completes commands, subcommands, options and their values from the tables', () => {
  assert.deepEqual(inBash(['fairlead', '']), Object.keys(commands));
  const all = cliOptions.flatMap(({ names, short }) => [
    ...names.map((name) => `--${name}`),
    ...(short ? [`-${short}`] : []),
  ]);
  assert.deepEqual(inBash(['fairlead', '-']).toSorted(), [...all, '--help', '--version'].toSorted());
  assert.deepEqual(inBash(['fairlead', 'run', '--out']), ['--output-format', '--output-schema']);
  assert.deepEqual(inBash(['fairlead', '--output-format', 's']), ['stream-json']);
  assert.deepEqual(inBash(['fairlead', 'sessions', 're']), ['rename', 'restore']);
  assert.deepEqual(inBash(['fairlead', 'sessions', 'export', 'x', '--format', '']), ['md', 'html', 'json']);
  assert.deepEqual(inBash(['fairlead', 'config', 'set', 'sandbox.e']), ['sandbox.emulation', 'sandbox.engine']);
  assert.deepEqual(inBash(['fairlead', 'models', 'oll']), ['ollama']);
  assert.deepEqual(inBash(['fairlead', 'completions', '']), ['bash', 'zsh', 'fish']);
  assert.deepEqual(inBash(['fairlead', '--prompt-file', 'a']), ['a prompt.md']);
  assert.deepEqual(inBash(['fairlead', 'fix', 'ses']), [], 'words of a prompt are not commands');
  assert.deepEqual(inBash(['fairlead', 'fix', '--vers']), [], 'after them only the options of a run are valid');
  assert.deepEqual(
    inBash(['fairlead', '--model', 'x', 'ses']),
    ['sessions'],
    'the value of an option is not a word of the prompt',
  );
  assert.deepEqual(
    inBash(['fairlead', '--resume', '--mod']),
    ['--model', '--model-name', '--mode'],
    'a value may be omitted',
  );
});

test('bash completes a name that its word breaks split', () => {
  assert.deepEqual(inBash(['fairlead', '--model', 'lla']), ['llama3:8b', 'llama3:70b']);
  assert.deepEqual(inBash(['fairlead', '--model', 'llama3', ':'], 'fairlead --model llama3:'), ['8b', '70b']);
  assert.deepEqual(inBash(['fairlead', '--model', 'llama3', ':', '7'], 'fairlead --model llama3:7'), ['70b']);
  assert.deepEqual(inBash(['fairlead', '--model', '=', 'lla'], 'fairlead --model=lla'), ['llama3:8b', 'llama3:70b']);
  assert.equal(inBash(['fairlead', '--model', '='], 'fairlead --model=').length, 3);
});

test('bash quotes names with spaces, quotes and command substitutions, and runs none', () => {
  const given = inBash(['fairlead', 'sessions', 'show', '']);
  assert.deepEqual(given.map(asWord).toSorted(), nasty.toSorted());
  assert.deepEqual(inBash(['fairlead', '-r', '\\$\\(']).map(asWord), ['$(touch PWNED)']);
  assert.deepEqual(inBash(['fairlead', '-r', '"$(']), ['\\$(touch PWNED)']);
  assert.deepEqual(inBash(['fairlead', '-r', "'it"]), [`it'\\''s "so"`]);
  assert.deepEqual(inBash(['fairlead', '-m', 'odd']).map(asWord), ['odd $(touch PWNED)']);
  nothingRan();
});

test('fish suggests the same', { skip: missing('fish') }, () => {
  const inFish = (line: string): readonly string[] => {
    const ran = spawnSync(
      'fish',
      ['--no-config', '-c', `source $argv[1]; complete -C $argv[2]`, path.join(root, 'fish'), line],
      {
        env,
        cwd: work,
        encoding: 'utf8',
      },
    );
    assert.equal(ran.stderr, '');
    return ran.stdout
      .split('\n')
      .filter(Boolean)
      .map((each) => each.split('\t')[0] ?? '');
  };
  assert.deepEqual(inFish('fairlead ').toSorted(), Object.keys(commands).toSorted());
  assert.deepEqual(inFish('start-harness mod'), ['models']);
  assert.deepEqual(inFish('fairlead run --out').toSorted(), ['--output-format', '--output-schema']);
  assert.deepEqual(inFish('fairlead --output-format s'), ['stream-json']);
  assert.deepEqual(inFish('fairlead sessions re').toSorted(), ['rename', 'restore']);
  assert.deepEqual(inFish('fairlead config set sandbox.e'), ['sandbox.emulation', 'sandbox.engine']);
  assert.deepEqual(inFish('fairlead --prompt-file a'), ['a prompt.md']);
  assert.deepEqual(inFish('fairlead fix ses'), []);
  assert.deepEqual(inFish('fairlead --model x ses'), ['sessions']);
  assert.deepEqual(inFish('fairlead --model=llama3:7'), ['--model=llama3:70b']);
  assert.deepEqual(inFish('fairlead sessions show ').toSorted(), nasty.toSorted());
  nothingRan();
});

const prompts = {
  bash: ['bash', '--norc', '--noprofile'],
  zsh: ['zsh', '-f'],
  fish: ['fish', '--no-config', '-C', 'function fish_prompt; echo "ready> "; end'],
} as const;
const setUp = {
  bash: 'PS1="ready> "; source ~/bash; clear',
  zsh: 'PS1="ready> "; autoload -U compinit; compinit -u -D; source ~/zsh; clear',
  fish: 'source ~/fish; clear',
} as const;

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  const skip = noTerminal() || missing(shell);
  test(`in ${shell} the Tab key writes whole names, which reach the program as they are`, { skip }, async (t) => {
    const terminal = await openTerminal(t, ['env', `PATH=${env.PATH}`, ...prompts[shell]], {
      columns: 100,
      cwd: work,
      env,
    });
    await terminal.type(`${setUp[shell]}\n`);
    await terminal.waitFor(/^\s*ready> *\n*$/);
    const tab = async (typed: string, got: readonly string[]): Promise<void> => {
      await terminal.type(typed);
      await terminal.keys('Tab');
      // The completion is on the line before Enter submits it.
      const end = /\w+(?=\W*$)/.exec(got.at(-1) ?? '')?.[0];
      await terminal.waitFor(new RegExp(`ready> [^\n]*${end}\\W*$`));
      await terminal.keys('Enter');
      await terminal.waitFor(new RegExp(`\n${escaped(got.map((each) => `<${each}>`).join(''))}\\s*\nready> *\n*$`));
    };
    await tab('fairlead sessions sh', ['sessions', 'show']);
    await tab('fairlead sessions show tw', ['sessions', 'show', 'two words']);
    await tab('fairlead sessions show "tw', ['sessions', 'show', 'two words']);
    await tab('fairlead --model llama3:7', ['--model', 'llama3:70b']);
    await tab('fairlead --model=llama3:7', ['--model=llama3:70b']);
    await tab(String.raw`fairlead -r \$\(`, ['-r', '$(touch PWNED)']);
    await tab("fairlead -r 'it", ['-r', `it's "so"`]);
    await tab('fairlead -P a', ['-P', 'a prompt.md']);
    nothingRan();
  });
}

const escaped = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');

for (const name of Object.keys(commands).filter(
  (each) => !['chat', 'run', 'sessions', 'config', 'completions'].includes(each),
))
  test(`the options of "${name}" that a shell suggests are those that its help names`, () => {
    const { stdout, status } = spawnSync(process.execPath, [bin, name, '--help'], { env, encoding: 'utf8' });
    assert.equal(status, 0);
    const flags = createCompletionSpec(commands).find((environment) => environment.name === name)?.flags ?? [];
    assert.deepEqual(
      flags.flatMap(({ spellings }) => spellings).toSorted(),
      [...new Set(stdout.match(/--[a-z-]+/g))].filter((each) => each !== '--help').toSorted(),
      'src/cli/commands/completions/completion-spec.ts says what is suggested',
    );
  });

test('names that cannot be typed are not suggested, and a wrong argument prints the usage', () => {
  const ran = spawnSync(process.execPath, [bin, 'completions', '--values', 'sessions'], { env, encoding: 'utf8' });
  assert.deepEqual(ran.stdout.split('\n').filter(Boolean).toSorted(), nasty.toSorted());
  const wrong = spawnSync(process.execPath, [bin, 'completions', 'tcsh'], { env, encoding: 'utf8' });
  assert.deepEqual([wrong.status, wrong.stdout], [2, '']);
  assert.match(wrong.stderr, /^Usage: fairlead completions bash/);
  assert.ok(!existsSync(path.join(work, 'PWNED')));
});
