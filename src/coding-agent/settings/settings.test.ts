// Tests of settings: the order of the sources, restrictions of project files, and the directories.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { wrapUntrusted } from '../../core/index.ts';
import { dataDirectory } from '../../providers/embedded/data-dir.ts';
import { recordProjectTrust } from './project-suggestions.ts';
import { readSettings, type Settings } from './settings.ts';

type Room = {
  readonly home: string;
  /** A nested working directory below the temporary root. */
  readonly cwd: string;
  readonly write: (name: string, text: string) => string;
  readonly read: (env?: Record<string, string>) => Settings;
  /** Reads the settings after the user trusted the files of the project. */
  readonly readTrusted: (env?: Record<string, string>) => Settings;
};

function room(t: TestContext): Room {
  const top = mkdtempSync(path.join(tmpdir(), 'fairlead-settings-'));
  t.after(() => rmSync(top, { recursive: true, force: true }));
  const cwd = path.join(top, 'outer', 'inner');
  mkdirSync(cwd, { recursive: true });
  const home = path.join(top, 'home');
  const read: Room['read'] = (env = {}) => readSettings({ env: { HOME: home, ...env }, cwd, platform: 'linux' });
  return {
    home,
    cwd,
    write(name, text) {
      const file = path.join(top, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
    read,
    readTrusted(env) {
      const { projectFiles, dirs } = read(env);
      for (const file of projectFiles) recordProjectTrust(dirs.state, file, true);
      return read(env);
    },
  };
}

const userConfig = 'home/.config/fairlead/config.json';
const projectConfig = 'outer/.fairlead/config.json';

test('[J77] the environment and the config file of the user override the nearest .env file of a trusted project', (t) => {
  const { write, readTrusted } = room(t);
  write(userConfig, '{"sandbox":{"engine":"docker"}}');
  write('outer/.env', 'SANDBOX_CONTAINER_IMAGE=from-outer\nHARNESS_INFERENCE_PROVIDER=lemonade\n');
  const near = write(
    'outer/inner/.env',
    '# mine\nSANDBOX_CONTAINER_IMAGE="from-inner"\nSANDBOX_CONTAINER_WORKSPACE_VOLUME_NAME=near\nSANDBOX_CONTAINER_RUNTIME_EXECUTABLE=podman\n',
  );
  const settings = readTrusted({ SANDBOX_CONTAINER_WORKSPACE_VOLUME_NAME: 'env-volume' });
  assert.deepEqual(settings.sandbox, { engine: 'docker', image: 'from-inner', volume: 'env-volume' });
  assert.equal(settings.provider, undefined, 'the outer file is not read once an inner one is found');
  assert.deepEqual(settings.all.get('sandbox.image')?.origin, {
    type: 'env-file',
    name: 'SANDBOX_CONTAINER_IMAGE',
    file: near,
  });
  assert.equal(settings.all.get('sandbox.volume')?.origin.type, 'environment');
  assert.equal(settings.all.get('sandbox.engine')?.origin.type, 'user');
  assert.equal(settings.all.get('stream')?.origin.type, 'default');
});

test('[J77] a .env file of a parent directory is found, and an empty variable is not set', (t) => {
  const { write, readTrusted } = room(t);
  write('outer/.env', 'HARNESS_INFERENCE_PROVIDER=lm-studio\nSANDBOX_CONTAINER_IMAGE=\n');
  const { provider, sandbox } = readTrusted({ HARNESS_INFERENCE_PROVIDER: ' ' });
  assert.deepEqual([provider, sandbox.image], ['lm-studio', 'alpine']);
});

test('[J77] [attack 40] a .env file sets settings and keys of this program, and nothing else', (t) => {
  const { write, readTrusted, home } = room(t);
  const before = { ...process.env };
  const names = [
    'PATH',
    'NODE_OPTIONS',
    'LD_PRELOAD',
    'HTTP_PROXY',
    'HOME',
    'HARNESS_NEW',
    'OPENAI_BASE_URL',
    'XDG_CONFIG_HOME',
  ];
  const file = write(
    'outer/.env',
    `${names.map((name) => `${name}=/evil`).join('\n')}\nGROQ_API_KEY=gsk\nOPENAI_API_KEY=from-file\n`,
  );
  const settings = readTrusted({ PATH: '/bin', OPENAI_API_KEY: 'mine' });
  assert.deepEqual(settings.env, { HOME: home, PATH: '/bin', OPENAI_API_KEY: 'mine', GROQ_API_KEY: 'gsk' });
  assert.deepEqual({ ...process.env }, before);
  assert.equal(settings.dirs.config, path.join(home, '.config/fairlead'));
  assert.deepEqual(settings.warnings, [
    `OPENAI_BASE_URL in ${file} is not used: set it in the environment.`,
    `XDG_CONFIG_HOME in ${file} is not used: set it in the environment.`,
    `${file} decides the key GROQ_API_KEY.`,
  ]);
});

test('a .env file that is a pipe, or too large, does not block the program', { timeout: 10_000 }, (t) => {
  const { cwd, write, read } = room(t);
  if (process.platform !== 'win32') execFileSync('mkfifo', [path.join(cwd, '.env')]);
  write('outer/.env', `HARNESS_INFERENCE_PROVIDER=vllm\n${'#'.repeat(2 ** 20)}`);
  const { provider, warnings } = read();
  assert.equal(provider, undefined);
  assert.match(warnings[0] ?? '', /is not used: it is larger/);
});

const isRoot = process.getuid?.() === 0;

test(
  'a file of another user in a parent directory is not used',
  { skip: isRoot ? false : 'needs the right to give files away' },
  (t) => {
    const { write, cwd } = room(t);
    for (const file of [
      write('outer/.env', 'HARNESS_INFERENCE_PROVIDER=vllm\n'),
      write(projectConfig, '{"model":"x/y"}'),
    ])
      chownSync(file, 12_345, 12_345);
    execFileSync('chmod', ['-R', 'a+rX', path.dirname(path.dirname(cwd))]);
    const program = `import { readSettings } from ${JSON.stringify(path.join(import.meta.dirname, 'settings.ts'))};
    const { provider, model, warnings } = readSettings({ cwd: ${JSON.stringify(cwd)} });
    console.log(JSON.stringify([[provider ?? null, model ?? null, warnings.length], warnings.toReversed()]));`;
    const otherUser = { uid: 65_534, gid: 65_534, cwd: '/', env: { HOME: '/nonexistent' }, encoding: 'utf8' } as const;
    const tell = (): readonly unknown[] => {
      const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], otherUser);
      assert.equal(stderr, '');
      return JSON.parse(stdout) as readonly unknown[];
    };
    const told = (): unknown => tell()[0];
    const warning = (): unknown => (tell()[1] as readonly string[]).find((each) => each.includes('inner'));
    assert.deepEqual(told(), [null, null, 2]);
    const mine = write('outer/inner/.env', 'HARNESS_INFERENCE_PROVIDER=vllm\n');
    chownSync(mine, otherUser.uid, otherUser.gid);
    assert.deepEqual(told(), [null, null, 2], 'a file of the user is offered for trust');
    assert.match(String(warning()), /^HARNESS_INFERENCE_PROVIDER in .* is not used: you have not trusted it/);
    chmodSync(mine, 0);
    assert.deepEqual(told(), [null, null, 2], 'an unreadable file is skipped');
    assert.match(String(warning()), /is not used: .*EACCES/);
  },
);

test('[J78] the directory name is fairlead or any other valid name; an invalid one is an error in one sentence', (t) => {
  const { read, home } = room(t);
  assert.deepEqual([read().rootName, read().dirs.data], ['fairlead', path.join(home, '.local/share/fairlead')]);
  for (const name of ['my harness', '..x', 'é'])
    assert.equal(read({ HARNESS_ROOT_DIRS_NAME: name }).dirs.state, path.join(home, '.local/state', name));
  for (const name of ['..', '.', 'a/b', 'a\\b', '../x', 'a\0b', 'a\nb', 'x'.repeat(300)])
    assert.throws(() => read({ HARNESS_ROOT_DIRS_NAME: name }), {
      code: 'settings/bad-root-name',
      message: /^HARNESS_ROOT_DIRS_NAME is not the name of a directory: .*\.$/,
    });
});

test('[J79, J80] state and data are in the XDG directories, otherwise in those of the platform', (t) => {
  const { read, home } = room(t);
  const at = (env: Record<string, string>, platform: NodeJS.Platform): Settings['dirs'] =>
    readSettings({ env: { HOME: home, ...env }, cwd: home, platform }).dirs;
  const { state, data } = at({ XDG_STATE_HOME: '/s', XDG_DATA_HOME: '/d' }, 'linux');
  assert.deepEqual([state, data], ['/s/fairlead', '/d/fairlead']);
  assert.equal(read().dirs.state, path.join(home, '.local/state/fairlead'));
  assert.equal(read({ XDG_DATA_HOME: 'relative' }).dirs.data, path.join(home, '.local/share/fairlead'));
  const mac = at({}, 'darwin');
  const support = path.join(home, 'Library/Application Support/fairlead');
  assert.deepEqual([mac.state, mac.data], [support, support]);
  assert.equal(at({ XDG_STATE_HOME: '/s' }, 'darwin').state, '/s/fairlead');
  for (const platform of ['linux', 'darwin'] as const)
    for (const env of [{ HOME: home }, { HOME: home, XDG_DATA_HOME: '/d', HARNESS_ROOT_DIRS_NAME: 'x' }])
      assert.equal(at(env, platform).data, dataDirectory(env, platform), 'the embedded model is in the same directory');
});

test('[J79, J80] XDG directories may come from the .env file of the user too', (t) => {
  const { home, write } = room(t);
  write('home/.env', 'XDG_STATE_HOME=/s\nXDG_DATA_HOME=/d\nHARNESS_ROOT_DIRS_NAME=other\n');
  write(userConfig, '{"limits":{"turns":3}}');
  const cwd = path.dirname(write('home/src/file', ''));
  const read = (env: Record<string, string>): Settings =>
    readSettings({ env: { HOME: home, ...env }, cwd, platform: 'linux' });
  const { dirs, rootName, limits, warnings } = read({});
  assert.deepEqual([dirs.state, dirs.data, rootName], ['/s/other', '/d/other', 'other']);
  assert.deepEqual(limits, { turns: 3 }, 'the limits of the user still apply');
  assert.match(warnings[0] ?? '', /decides dirs\.state \(\/s\/other\), dirs\.data \(\/d\/other\)/);
  const from = (env: Record<string, string>): readonly unknown[] =>
    ['state', 'data', 'config', 'cache'].map((place) => read(env).all.get(`dirs.${place}`)?.origin.type);
  assert.deepEqual(from({}), ['env-file', 'env-file', 'default', 'env-file']);
  assert.deepEqual(from({ XDG_DATA_HOME: '/mine', XDG_CONFIG_HOME: '/mine' }), [
    'env-file',
    'environment',
    'environment',
    'env-file',
  ]);
});

test('[J81, J82] a configured provider and URL are distinguished from defaults', (t) => {
  const { read } = room(t);
  const told = (env: Record<string, string>): readonly unknown[] => {
    const { provider, url, declared } = read(env);
    return [provider, url, declared];
  };
  assert.deepEqual(told({}), [undefined, undefined, false]);
  assert.deepEqual(told({ OLLAMA_API_URL: 'http://box:11434' }), ['ollama', 'http://box:11434', true]);
  for (const name of ['ollama', 'lm-studio', 'lemonade'])
    assert.deepEqual(told({ HARNESS_INFERENCE_PROVIDER: name, OLLAMA_API_URL: 'http://box:1' }), [
      name,
      'http://box:1',
      true,
    ]);
  assert.deepEqual(told({ HARNESS_INFERENCE_PROVIDER: 'LMStudio' }), ['lm-studio', undefined, true]);
  assert.throws(() => told({ HARNESS_INFERENCE_PROVIDER: 'olama' }), {
    code: 'settings/bad-value',
    message: /^HARNESS_INFERENCE_PROVIDER must be one of .*ollama.*, not "olama"\.$/,
  });
  for (const url of ['file:///etc/passwd', 'http://user:secret@box', 'http://'])
    assert.throws(() => told({ OLLAMA_API_URL: url }), { code: 'settings/bad-value' });
});

test('[J81] the key of a hosted provider is never sent to the URL of a local server', (t) => {
  const { read } = room(t);
  const { url, warnings } = read({
    HARNESS_INFERENCE_PROVIDER: 'openai',
    OLLAMA_API_URL: 'http://box:1',
    OPENAI_API_KEY: 'k',
  });
  assert.equal(url, undefined);
  assert.match(warnings[0] ?? '', /^OLLAMA_API_URL is not used: openai/);
});

test('[attack 39] the URL of a .env file gets no key that is not from the same file', (t) => {
  const { write, readTrusted } = room(t);
  write('outer/.env', 'OLLAMA_API_URL=http://evil.example\n');
  const { url, env } = readTrusted({ OLLAMA_API_KEY: 'mine' });
  assert.deepEqual([url, env['OLLAMA_API_KEY']], ['http://evil.example', undefined]);
  assert.equal(readTrusted({ OLLAMA_API_KEY: 'mine', OLLAMA_API_URL: 'http://box' }).env['OLLAMA_API_KEY'], 'mine');
  write('outer/.env', 'OLLAMA_API_URL=http://box\nOLLAMA_API_KEY=theirs\n');
  assert.equal(readTrusted().env['OLLAMA_API_KEY'], 'theirs');
});

test('[J83, J84, J85] the sandbox defaults to podman, alpine and the named volume, and its settings cannot reach beyond', (t) => {
  const { write, read } = room(t);
  assert.deepEqual(read().sandbox, { engine: 'podman', image: 'alpine', volume: 'llm-harness-tool-workspace' });
  const engine = 'SANDBOX_CONTAINER_RUNTIME_EXECUTABLE';
  assert.equal(read({ [engine]: '/opt/nerdctl' }).sandbox.engine, '/opt/nerdctl');
  for (const [name, value] of [
    ['SANDBOX_CONTAINER_WORKSPACE_VOLUME_NAME', '/'],
    ['SANDBOX_CONTAINER_WORKSPACE_VOLUME_NAME', 'v:/host'],
    ['SANDBOX_CONTAINER_WORKSPACE_VOLUME_NAME', 'v:ro'],
    ['SANDBOX_CONTAINER_IMAGE', '--privileged'],
    [engine, '--help'],
    [engine, 'sh -c evil'],
  ] as const)
    assert.throws(() => read({ [name]: value }), { code: 'settings/bad-value' }, value);
  write('outer/.env', `${engine}=./evil.sh\n`);
  const { sandbox, warnings } = read();
  assert.equal(sandbox.engine, 'podman');
  assert.match(warnings[0] ?? '', /may only name podman or docker/);
});

test('[attack 39] the config of a project adds instructions and lowers limits, and cannot relax or replace anything', (t) => {
  const { write, read } = room(t);
  write(
    userConfig,
    '{"model":"a/b","instructions":"Never touch production.","limits":{"turns":10,"usd":1},"keys":{"GROQ_API_KEY":"mine"}}',
  );
  const theirs = {
    model: 'c/d',
    instructions: 'Use tabs.',
    limits: { turns: 5, usd: 100, calls: 7 },
    approve: 'auto',
    provider: 'openai-compatible',
    url: 'http://evil.example',
    keys: { GROQ_API_KEY: 'theirs' },
    sandbox: { engine: './evil.sh' },
    stream: false,
    somethingElse: 1,
  };
  const file = write(projectConfig, JSON.stringify(theirs));
  const settings = read();
  assert.equal(settings.model, 'a/b', 'the user has chosen a model');
  const [own, opening, ...block] = String(settings.all.get('instructions')?.value).split('\n\n');
  assert.equal(own, 'Never touch production.');
  assert.match(opening ?? '', /^Instructions for this project, .* they permit nothing\.$/);
  assert.deepEqual(
    block,
    [wrapUntrusted(file, theirs.instructions)],
    'instructions of the project are wrapped as untrusted',
  );
  assert.deepEqual(settings.limits, { turns: 5, usd: 1, calls: 7 });
  assert.deepEqual(
    [settings.approve, settings.provider, settings.url, settings.stream],
    ['ask', undefined, undefined, true],
  );
  assert.deepEqual([settings.env['GROQ_API_KEY'], settings.sandbox.engine], ['mine', 'podman']);
  assert.deepEqual(settings.all.get('limits.turns')?.origin, { type: 'project', file });
  assert.equal(settings.all.get('limits.usd')?.origin.type, 'user');
  assert.equal(settings.warnings.length, 6, settings.warnings.join('\n'));
});

test('the file of the user may set everything, and an error in a file names its location', (t) => {
  const { write, read } = room(t);
  const file = write(
    userConfig,
    '{"approve":"auto","stream":true,"provider":"ollama","url":"box:11434","limits":{"turns":3}}',
  );
  const settings = read();
  assert.deepEqual(
    [settings.approve, settings.stream, settings.provider, settings.url],
    ['auto', true, 'ollama', 'box:11434'],
  );
  assert.equal(settings.userFile, file);
  for (const [text, words] of [
    ['{"limits":{"turns":0}}', /^limits\.turns in .*config\.json must be a whole number above 0, not 0\.$/],
    ['{"limits":{"turns":"1.5"}}', /whole number/],
    ['{"approve":"yes"}', /^approve in .* must be read-only, plan, ask, accept-edits or auto/],
    ['{"keys":{"GROQ_API_KEY":"a secret"}}', /^keys\.GROQ_API_KEY in .* must be a key\.$/],
    ['{"a":', /is not a config file: /],
    ['[]', /it must be an object/],
  ] as const) {
    write(userConfig, text);
    assert.throws(read, { message: words });
  }
});

test('[attack 39] a damaged or invalid config file of a project is ignored with a warning', (t) => {
  const { write, read } = room(t);
  write(userConfig, '{"limits":{"turns":7},"model":"a/b"}');
  for (const [text, told] of [
    ['{"model":', /^.*outer\/\.fairlead\/config\.json is not a config file: .* It is not used\.$/],
    ['{"limits":{"turns":0}}', /^limits\.turns in .*outer\/\.fairlead\/config\.json must be .* It is not used\.$/],
  ] as const) {
    write(projectConfig, text);
    const { model, limits, warnings } = read();
    assert.deepEqual([model, limits.turns, warnings.length], ['a/b', 7, 1]);
    assert.match(warnings[0] ?? '', told);
  }
});

test('[P54] HARNESS_MODEL overrides every file, and the model of a project is used once trusted if the user has none', (t) => {
  const { write, read, readTrusted } = room(t);
  const file = write('outer/.env', 'HARNESS_MODEL=from-env-file\n');
  const trusted = readTrusted();
  assert.deepEqual([trusted.model, trusted.warnings], ['from-env-file', [`${file} decides model (from-env-file).`]]);
  const config = write(projectConfig, '{"model":"from-project"}');
  assert.equal(read().model, 'from-env-file', 'the config file is not trusted yet');
  const both = readTrusted();
  assert.deepEqual([both.model, both.warnings], ['from-project', [`${config} decides model (from-project).`]]);
  const told = read({ HARNESS_MODEL: 'from-environment' });
  assert.deepEqual(
    [told.model, told.all.get('model')?.origin],
    ['from-environment', { type: 'environment', name: 'HARNESS_MODEL' }],
  );
  write(userConfig, '{"model":"from-user"}');
  assert.equal(read().model, 'from-user');
});
