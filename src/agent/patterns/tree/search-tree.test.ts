// Tests of tree search, and of the workspaces that it forks.
import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { fails, says, scriptedProvider } from '../../../testing/index.ts';
import { Agent } from '../../agent.ts';
import {
  createFolderWorkspace,
  createValueWorkspace,
  searchTree,
  type CheckInput,
  type FileAction,
  type FolderWorkspace,
  type ForkableWorkspace,
  type FunctionParticipant,
  type ProposerInput,
  type StateCheck,
  type TreeSearchOptions,
  type TreeSearchResult,
  type ValueWorkspace,
} from '../index.ts';

const { signal } = new AbortController();

/** A workspace whose state is a text that actions append a letter to. */
const spell = (value = ''): ValueWorkspace<string, string> =>
  createValueWorkspace<string, string>({
    value,
    parse: (proposed) =>
      typeof proposed === 'string' && proposed.length === 1
        ? { action: proposed }
        : { problem: 'One letter was expected.' },
    apply: (text, letter) => {
      if (letter === '!') throw new Error('no such letter');
      return text + letter;
    },
  });

type Spell = ValueWorkspace<string, string>;
type Options = TreeSearchOptions<string, Spell>;

/** Code that scores a text by the letters that it shares with a word from the start. */
const checkWord = (word: string): FunctionParticipant<CheckInput<string, Spell>, StateCheck> => ({
  name: 'test',
  asksModel: false,
  run: ({ workspace: { value } }) => {
    let right = 0;
    while (right < value.length && value[right] === word[right]) right += 1;
    const isWrong = right < value.length;
    return {
      value: right / word.length,
      solved: value === word,
      dead: isWrong,
      detail: isWrong ? `${value} is wrong` : '',
    };
  },
});

const proposes = (run: FunctionParticipant<ProposerInput<string>, readonly unknown[]>['run']): Options['proposer'] => ({
  name: 'model',
  family: 'gpt',
  run,
});

const search = (options: Partial<Options> = {}): Promise<TreeSearchResult<string>> =>
  searchTree<string, Spell>({
    task: 'Spell cab.',
    signal,
    workspace: spell(),
    budget: { calls: 30 },
    check: checkWord('cab'),
    proposer: proposes(() => ['a', 'b', 'c']),
    ...options,
  });

test('[A120] tree search finds the actions that a check accepts, and forks leave the workspace of the caller as it was', async () => {
  const workspace = spell();
  const result = await search({ workspace });
  assert.deepEqual([result.solved, result.actions.join(''), result.value, result.stop], [true, 'cab', 1, 'complete']);
  assert.equal(workspace.value, '');
  assert.equal(result.spent.calls, 3, 'code is no model call');
  assert.ok(result.trace.some(({ role, by, score }) => role === 'check' && by === 'test' && score === 1));
  const adopted = await search({ workspace, adopt: true });
  assert.deepEqual([adopted.adopted, workspace.value], [true, 'cab']);
});

test('[A120] later expansions get the lessons of failed branches, from the check or from a reflector', async () => {
  const inputs: ProposerInput<string>[] = [];
  const proposer = proposes((input) => {
    inputs.push(input);
    return ['a', 'c'];
  });
  await search({ proposer, check: checkWord('cc'), width: 2 });
  assert.deepEqual(inputs[0]?.reflections, []);
  assert.deepEqual(inputs[1]?.reflections, ['"a": a is wrong']);
  const reflector = { name: 'teacher', family: 'llama', run: () => 'Do not start with a.' };
  inputs.length = 0;
  const result = await search({ proposer, check: checkWord('cc'), width: 2, reflector });
  assert.deepEqual(inputs[1]?.reflections, ['"a": Do not start with a.']);
  assert.equal(result.trace.filter(({ role }) => role === 'reflector').length, 2, 'one for each of a and ca');
});

test('[A120] the search is deterministic by its seed', async () => {
  const letters = ['x', 'y', 'z', 'w'];
  const check = { name: 'flat', asksModel: false, run: () => ({ value: 0.5 }) };
  const order = async (seed: number): Promise<string> => {
    const result = await search({ seed, check, width: 4, proposer: proposes(() => letters), budget: { calls: 12 } });
    return result.states.map(({ actions }) => actions.join('')).join(' ');
  };
  assert.equal(await order(3), await order(3));
  assert.equal(new Set(await Promise.all([1, 2, 3, 4, 5, 6].map(order))).size > 1, true);
});

test('[A120] the branch with the higher value is searched first, and a seldom visited one is not forgotten', async () => {
  const visited: string[] = [];
  const check = {
    name: 'code',
    asksModel: false,
    run: ({ actions }: CheckInput<string, Spell>) => ({ value: actions[0] === 'a' ? 0.8 : 0.4 }),
  };
  const proposer = proposes(({ actions }) => {
    visited.push(actions.join(''));
    return ['a', 'b'].map((letter) => letter);
  });
  await search({ check, proposer, width: 2, budget: { calls: 12 }, exploration: 0.5 });
  assert.equal(visited[1], 'a');
  assert.ok(visited.some((text) => text.startsWith('b')));
  assert.ok(
    visited.filter((text) => text.startsWith('a')).length > visited.filter((text) => text.startsWith('b')).length,
  );
});

test('[A120] one branch: width 1 asks again for a state whose only branch failed', async () => {
  let asked = 0;
  const proposer = proposes(({ tried }) => {
    asked += 1;
    return [['b', 'c', 'a', 'b'][tried.length + (asked > 2 ? 1 : 0)] ?? 'b'];
  });
  const result = await search({ width: 1, proposer, check: checkWord('c') });
  assert.deepEqual([result.solved, result.actions, asked], [true, ['c'], 2]);
});

test('[A120] if all branches fail, the search ends with what failed, and the best state is the start', async () => {
  const result = await search({ proposer: proposes(() => ['!', 'x', 'too long', 7]), retries: 1 });
  assert.deepEqual([result.solved, result.actions, result.value, result.stop], [false, [], 0, 'exhausted']);
  assert.match(result.detail, /Every branch failed/);
  assert.equal(result.spent.calls, 2);
  assert.ok(result.reflections.some((text) => text.includes('The action failed: no such letter')));
  const broken = await search({ proposer: proposes(() => Promise.reject(new Error('down'))) });
  assert.deepEqual([broken.stop, broken.trace.filter(({ outcome }) => outcome === 'failed').length], ['exhausted', 3]);
  const text = await search({ proposer: proposes(() => 'Take c.' as never) });
  assert.equal(text.stop, 'exhausted');
  const check = { name: 'code', asksModel: false, run: () => ({ value: 'good' }) as never };
  assert.deepEqual((await search({ check })).stop, 'failed');
});

test('[A120] budget and abort end a search with the best state so far; no state is checked twice', async () => {
  const short = await search({ check: checkWord('cabcab'), budget: { calls: 3 } });
  assert.deepEqual([short.stop, short.actions.join(''), short.spent.calls], ['budget', 'cab', 3]);
  const stop = new AbortController();
  const aborted = await search({
    signal: stop.signal,
    check: checkWord('cabcab'),
    proposer: proposes(({ actions }) => {
      if (actions.length === 2) stop.abort();
      return ['a', 'b', 'c'];
    }),
  });
  assert.deepEqual([aborted.stop, aborted.actions.join('')], ['aborted', 'ca']);
  const same = await search({ proposer: proposes(() => ['c', 'c', 'c']), check: checkWord('cd'), maxDepth: 1 });
  assert.equal(same.trace.filter(({ role }) => role === 'check').length, 2);
  assert.ok(same.states.filter(({ detail }) => detail === 'The state is known already.').length > 1);
  const model = { name: 'critic', family: 'claude', run: () => ({ value: 0.5 }) };
  const middle = await search({ check: model, budget: { calls: 4 } });
  assert.deepEqual([middle.stop, middle.spent.calls], ['budget', 4], 'in the middle of an expansion');
});

test('[A103, A120] a model that checks states is not the proposer, nor of its family', async () => {
  for (const [name, family] of [
    ['model', 'claude'],
    ['critic', 'gpt'],
    ['critic', 'unknown'],
  ] as const)
    await assert.rejects(search({ check: { name, family, run: () => ({ value: 1 }) } }), {
      code: 'patterns/not-independent',
    });
});

test('[A120] values are copied: a function that changes its argument changes no other state', async () => {
  const workspace = createValueWorkspace<string[], string>({
    value: ['a'],
    parse: (proposed) => ({ action: String(proposed) }),
    apply: (list, action) => {
      list.push(action);
      return list;
    },
  });
  const [one, two] = [await workspace.fork(signal), await workspace.fork(signal)];
  await one.apply('b', signal);
  one.value.push('x');
  assert.deepEqual([workspace.value, one.value, two.value], [['a'], ['a', 'b'], ['a']]);
  assert.notEqual(await one.fingerprint(signal), await two.fingerprint(signal));
  await one.rollback(signal);
  assert.equal(await one.fingerprint(signal), await two.fingerprint(signal));
  await one.apply('c', signal);
  await one.checkpoint(signal);
  await one.apply('d', signal);
  await one.rollback(signal);
  assert.deepEqual(one.value, ['a', 'c']);
});

function createFolder(
  t: TestContext,
  files: Readonly<Record<string, string>>,
): { readonly folder: string; readonly tempFolder: string } {
  const root = mkdtempSync(path.join(tmpdir(), 'fairlead-patterns-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const [folder, tempFolder] = [path.join(root, 'project'), path.join(root, 'forks')];
  mkdirSync(tempFolder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return { folder, tempFolder };
}

test('[A120] a folder is forked by copies: forks are independent, are rolled back, and nothing is left', async (t) => {
  const { folder, tempFolder } = createFolder(t, { 'a.txt': 'one', 'sub/b.txt': 'two', '.git/config': 'secret' });
  const workspace = await createFolderWorkspace({ folder, tempFolder });
  const [one, two] = [await workspace.fork(signal), await workspace.fork(signal)];
  await one.apply({ type: 'write', path: 'new/c.txt', text: 'three' }, signal);
  await one.apply({ type: 'replace', path: 'a.txt', old: 'one', new: 'ONE' }, signal);
  await one.apply({ type: 'remove', path: 'sub/b.txt' }, signal);
  const next = await one.fork(signal);
  assert.equal(await next.fingerprint(signal), await one.fingerprint(signal));
  assert.match(await one.describe(signal), /new\/c\.txt[^]*ONE[^]*three/);
  assert.doesNotMatch(await one.describe(signal), /secret|sub/);
  assert.deepEqual(readdirSync(two.folder).toSorted(), ['a.txt', 'sub']);
  await one.rollback(signal);
  assert.equal(await one.fingerprint(signal), await two.fingerprint(signal));
  assert.deepEqual(readdirSync(one.folder).toSorted(), ['a.txt', 'sub'], 'no folder that a change created is left');
  assert.equal(readFileSync(path.join(folder, 'a.txt'), 'utf8'), 'one');
  for (const fork of [one, two, next]) await fork.discard();
  assert.deepEqual(readdirSync(tempFolder), []);
  await workspace.discard();
  assert.equal(readFileSync(path.join(folder, 'a.txt'), 'utf8'), 'one', 'the folder of the caller is never discarded');
});

test('[A120] effects other than files in the folder are refused', async (t) => {
  const { folder, tempFolder } = createFolder(t, {
    'a.txt': 'one one',
    '.git/config': 'x',
    '.GIT/config': 'x',
    '.gitmodules': 'x',
  });
  const workspace = await createFolderWorkspace({ folder, tempFolder });
  assert.deepEqual(workspace.effects, ['files in the folder']);
  for (const proposed of [
    { type: 'command', command: 'rm -rf /' },
    { type: 'fetch', url: 'http://127.0.0.1' },
    { type: 'write', path: '../out.txt', text: '' },
    { type: 'write', path: '/out.txt', text: '' },
    { type: 'write', path: 'a.txt' },
    { type: 'replace', path: 'a.txt', old: '', new: 'x' },
    'echo',
    null,
  ])
    assert.ok('problem' in workspace.parse(proposed), JSON.stringify(proposed));
  const fork = await workspace.fork(signal);
  assert.deepEqual(readdirSync(fork.folder), ['.gitmodules', 'a.txt']);
  symlinkSync(folder, path.join(fork.folder, 'link'));
  for (const action of [
    { type: 'write', path: '.git/config', text: 'y' },
    { type: 'write', path: '.GIT/config', text: 'y' },
    { type: 'remove', path: '.GIT/config' },
    { type: 'remove', path: '.gitmodules' },
    { type: 'write', path: 'link/a.txt', text: 'y' },
    { type: 'remove', path: 'link/a.txt' },
    { type: 'remove', path: 'absent.txt' },
    { type: 'replace', path: 'a.txt', old: 'one', new: 'x' },
    { type: 'replace', path: 'absent.txt', old: 'one', new: 'x' },
  ] as const)
    await assert.rejects(fork.apply(action, signal), JSON.stringify(action));
  assert.equal(readFileSync(path.join(folder, 'a.txt'), 'utf8'), 'one one');
  await fork.discard();
  symlinkSync('/', path.join(folder, 'root'));
  await assert.rejects(createFolderWorkspace({ folder, tempFolder }), /root is a link/);
  await assert.rejects(
    createFolderWorkspace({ folder, tempFolder, exclude: ['root'], maxFiles: 1 }),
    /more than 1 files/,
  );
  await assert.rejects(createFolderWorkspace({ folder: path.join(folder, 'absent') }), { code: 'patterns/bad-option' });
});

test('[A120] agents search a folder: a test decides, the reasons of refused proposals are passed on, and the result is adopted', async (t) => {
  const { folder, tempFolder } = createFolder(t, { 'sum.js': 'export const sum = (a, b) => a - b;' });
  const write = (text: string): FileAction => ({ type: 'write', path: 'sum.js', text });
  const provider = scriptedProvider(
    [
      says(
        JSON.stringify({
          actions: [{ type: 'command', command: 'make' }, write('export const sum = (a, b) => a * b;')],
        }),
      ),
      says(JSON.stringify({ actions: [write('export const sum = (a, b) => a + b;')] })),
    ],
    { model: 'gpt-5' },
  );
  const result = await searchTree<FileAction, FolderWorkspace>({
    task: 'Make sum add.',
    signal,
    budget: { calls: 6 },
    adopt: true,
    workspace: await createFolderWorkspace({
      folder,
      tempFolder,
    }),
    proposer: new Agent({
      name: 'coder',
      model: provider,
    }),
    check: {
      name: 'test',
      asksModel: false,
      run: ({ workspace }) => {
        const isRight = readFileSync(path.join(workspace.folder, 'sum.js'), 'utf8').includes('a + b');
        return {
          value: isRight ? 1 : 0,
          solved: isRight,
          detail: isRight ? '' : 'sum(1, 2) is not 3',
        };
      },
    },
  });
  assert.deepEqual([result.solved, result.adopted, result.spent.calls], [true, true, 2]);
  assert.match(readFileSync(path.join(folder, 'sum.js'), 'utf8'), /a \+ b/);
  assert.deepEqual(readdirSync(tempFolder), [], 'no fork is left');
  assert.match(
    JSON.stringify(provider.requests[1]?.messages),
    /A proposal was refused: The effect .*command.* cannot be rolled back/,
  );
});

test('[A120] actions that cannot be applied at the end leave the folder as it was, with the earlier work of the caller', async (t) => {
  const { folder, tempFolder } = createFolder(t, { 'a.txt': 'one', 'run.sh': 'x' });
  chmodSync(path.join(folder, 'run.sh'), 0o755);
  const workspace = await createFolderWorkspace({ folder, tempFolder });
  await workspace.apply({ type: 'write', path: 'mine.txt', text: 'earlier work' }, signal);
  const steps: readonly FileAction[] = [
    { type: 'write', path: 'new/dir/b.txt', text: 'two' },
    { type: 'remove', path: 'run.sh' },
    { type: 'replace', path: 'a.txt', old: 'one', new: 'ONE' },
  ];
  const result = await searchTree<FileAction, FolderWorkspace>({
    task: 'x',
    signal,
    budget: { calls: 9 },
    adopt: true,
    workspace,
    proposer: { name: 'model', family: 'gpt', run: ({ actions }) => steps.slice(actions.length, actions.length + 1) },
    check: {
      name: 'code',
      asksModel: false,
      run: ({ actions }) => {
        const solved = actions.length === steps.length;
        // The user changes the file while the search runs.
        if (solved) writeFileSync(path.join(folder, 'a.txt'), 'other');
        return { value: actions.length / steps.length, solved };
      },
    },
  });
  assert.deepEqual([result.solved, result.adopted, result.stop], [true, false, 'complete']);
  assert.match(result.detail, /Its actions were not applied: The text to replace occurs nowhere in a\.txt\./);
  assert.deepEqual(readdirSync(folder).toSorted(), ['a.txt', 'mine.txt', 'run.sh']);
  assert.equal(readFileSync(path.join(folder, 'a.txt'), 'utf8'), 'other');
  if (process.platform !== 'win32') assert.equal(statSync(path.join(folder, 'run.sh')).mode & 0o777, 0o755);
});

test('[A120] the number of states is bounded also if no call is a model call, and an answer that is nested too deeply is refused', async () => {
  const flat = { name: 'code', asksModel: false, run: () => ({ value: 0.5 }) };
  const proposer = { name: 'list', asksModel: false, run: () => ['a', 'b', 'c'] };
  const bounded = await search({ proposer, check: flat, maxStates: 7 });
  assert.deepEqual([bounded.stop, bounded.states.length], ['rounds', 7]);
  assert.match(bounded.detail, /maximum of 7 states/);
  const nested = `{"actions": [${'['.repeat(50_000)}${']'.repeat(50_000)}]}`;
  const deep = await searchTree({
    task: 'x',
    signal,
    budget: { calls: 9 },
    workspace: createValueWorkspace({ value: '', parse: (action) => ({ action: action as string }), apply: () => 'x' }),
    proposer: proposes(() => nested as never),
    check: flat,
  });
  assert.equal(deep.stop, 'exhausted');
  assert.match(deep.reflections.join(), /A proposal was refused: It cannot be read/);
  const reflector = { name: 'writer', family: 'llama', run: () => 'x'.repeat(50_000) };
  const long = await search({ reflector, check: checkWord('cc'), width: 2 });
  assert.ok(long.reflections.length > 0 && long.reflections.every((text) => text.length <= 2000));
});

test('[A120] the workspace changes only by a solved state and without an abort, and only the first proposals are used', async () => {
  const unsolved = spell();
  const open = await search({ workspace: unsolved, adopt: true, check: checkWord('cabcab'), budget: { calls: 2 } });
  assert.deepEqual([open.solved, open.adopted, open.actions.length > 0, unsolved.value], [false, false, true, '']);
  const stop = new AbortController();
  const late = spell();
  // The abort comes after the check, while its result is recorded.
  const session = {
    annotate: async (_: string, value: unknown): Promise<void> => {
      if ((value as { readonly score?: number }).score === 1) stop.abort();
    },
  };
  const aborted = await search({ workspace: late, adopt: true, check: checkWord('c'), signal: stop.signal, session });
  assert.deepEqual([aborted.solved, aborted.adopted, late.value], [true, false, '']);
  const wide = await search({ width: 2, maxDepth: 1, retries: 0, check: checkWord('x') });
  assert.equal(wide.states.length, 3);
});

test('[A103, A120] a score by a fallback model of the family of the proposer does not count', async () => {
  const { gateway } = await import('../../../providers/index.ts');
  const down = scriptedProvider(() => fails('server-error', { retry: false }), { model: 'claude-opus-5' });
  const same = scriptedProvider(() => says('{"value": 1, "solved": true, "detail": ""}'), { model: 'gpt-5' });
  const check = new Agent({ name: 'critic', model: gateway([down, same]) });
  const result = await search({ check });
  assert.deepEqual([result.solved, result.stop], [false, 'failed']);
  assert.match(result.detail, /does not count: both are of the model family gpt/);
});

test('[A120] the bytes of a folder and of a write are bounded, and the fork of a failed state is removed at once', async (t) => {
  const { folder, tempFolder } = createFolder(t, { 'a.txt': 'x'.repeat(100) });
  await assert.rejects(createFolderWorkspace({ folder, tempFolder, maxBytes: 99 }), /or 99 bytes/);
  const workspace = await createFolderWorkspace({ folder, tempFolder, maxBytes: 150 });
  const huge = { type: 'write', path: 'b.txt', text: 'x'.repeat(1_000_001) };
  assert.match(JSON.stringify(workspace.parse(huge)), /at most 1000000 characters/);
  let most = 0;
  const result = await searchTree<FileAction, FolderWorkspace>({
    task: 'x',
    signal,
    budget: { calls: 4 },
    workspace,
    proposer: {
      name: 'model',
      family: 'gpt',
      run: ({ tried }) => {
        most = Math.max(most, readdirSync(tempFolder).length);
        return [0, 1, 2].map((i) => ({ type: 'write', path: `${tried.length + i}.txt`, text: 'x'.repeat(60) }));
      },
    },
    check: { name: 'code', asksModel: false, run: () => ({ value: 0 }) },
  });
  assert.equal(result.states.length, 10);
  assert.ok(result.states.slice(1).every(({ detail }) => detail.includes('150 bytes')));
  assert.equal(most, 1);
});

test('[A120] a workspace that cannot be forked ends the search with its error, and no fork is left', async () => {
  let open = 0;
  const create = (depth: number): ForkableWorkspace<string> => ({
    ...spell(),
    fork: async () => {
      if (depth > 0) throw new Error('disk full');
      open += 1;
      return create(depth + 1);
    },
    discard: async () => {
      open -= 1;
    },
  });
  await assert.rejects(
    searchTree<string, ForkableWorkspace<string>>({
      task: 'x',
      signal,
      budget: { calls: 5 },
      workspace: create(0),
      proposer: proposes(() => ['a']),
      check: {
        name: 'code',
        asksModel: false,
        run: () => ({ value: 0 }),
      },
    }),
    /disk full/,
  );
  assert.equal(open, 0);
});
