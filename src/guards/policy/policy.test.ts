import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { evaluateGates, type ResolvedAgent, type ToolCall, type RunState, type GateResult } from '../../core/index.ts';
import { grantKey, sessionGrants, type Grants } from '../grants.ts';
import { permissionGate } from '../permission.ts';
import { readPolicies, readPolicy } from './files.ts';
import { policyGate } from './policy-gate.ts';
import { parsePolicy, type Policy } from './policy.ts';

type PolicyFixture = { readonly config: string; readonly cwd: string; readonly home: string };

/** Directories of a user and a project, with these policies in them. */
function setup(t: TestContext, own?: string, project?: string): PolicyFixture {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-policies-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const [config, cwd] = [path.join(root, 'config'), path.join(root, 'work')];
  mkdirSync(config);
  mkdirSync(path.join(cwd, '.fairlead'), { recursive: true });
  if (own !== undefined) writeFileSync(path.join(config, 'policy.yaml'), own);
  if (project !== undefined) writeFileSync(path.join(cwd, '.fairlead', 'policy.yaml'), project);
  return { config, cwd, home: root };
}

test('a policy is read from YAML or JSON, and a directory without one has none', async (t) => {
  assert.equal(await readPolicies(setup(t)), undefined);
  const yaml = await readPolicies(setup(t, 'rules:\n  - allow: { command: git log }\n    why: It only reads.\n'));
  assert.deepEqual(
    yaml?.rules.map(({ effect, on, why }) => ({ effect, on, why })),
    [{ effect: 'allow', on: { command: [['git', 'log']] }, why: 'It only reads.' }],
  );
  const json = await readPolicies(setup(t, '{"rules": [{"deny": {"tool": ["a", "b"], "host": "*.x"}}]}'));
  assert.deepEqual(json?.rules[0]?.on, { tool: ['a', 'b'], host: ['*.x'] });
});

test('[attack 31] [attack 50] a project’s policy can only be stricter: its allow rules are ignored', async (t) => {
  const own = 'rules:\n  - allow: { command: [ls, cat] }\n';
  const project =
    'rules:\n  - allow: { tool: "*" }\n  - allow: { command: rm }\n  - deny: { command: cat }\n  - ask: { command: ls }\n';
  const policy = await readPolicies(setup(t, own, project));
  assert.deepEqual(
    policy?.rules.map(({ effect, on }) => [effect, on.command?.flat()]),
    [
      ['allow', ['ls', 'cat']],
      ['deny', ['cat']],
      ['ask', ['ls']],
    ],
  );
});

test('[attack 100] only the user’s own policy turns off questions about unknown commands', async (t) => {
  const own = 'dangerouslyAllowUnknown: true\nrules:\n  - deny: { command: rm }\n';
  assert.equal((await readPolicies(setup(t, own, 'rules: []')))?.dangerouslyAllowUnknown, true);
  await assert.rejects(readPolicies(setup(t, 'rules: []', own)), {
    code: 'policy/unclear',
    message: /belongs in your own policy; remove it from the policy of the project/,
  });
});

for (const [data, says] of [
  ['rules', /is not a policy/],
  [{}, /"rules" must be a list/],
  [{ rules: [], extra: 1 }, /"extra" is not known; there are rules/],
  [{ rules: [], dangerouslyAllowUnknown: 'yes' }, /"dangerouslyAllowUnknown" must be true or false/],
  [{ rules: [{ deny: { command: 'x', options: ['-a'] } }] }, /"options" belongs to a rule that allows a command/],
  [{ rules: [{ allow: { tool: 'x', options: ['-a'] } }] }, /"options" belongs to a rule that allows a command/],
  [{ rules: [{ allow: { command: 'x', options: ['a'] } }] }, /"a" is not an option such as --watch/],
  [{ rules: [{ alow: { tool: 'x' } }] }, /rule 1: "alow" is not known/],
  [{ rules: [{ allow: { tool: 'x' }, deny: { tool: 'x' } }] }, /rule 1 must contain one of allow, ask and deny/],
  [{ rules: [{ allow: {} }] }, /rule 1 must name a tool, a path, a command or a host/],
  [{ rules: [{ allow: { tools: 'x' } }] }, /"tools" is not known/],
  [{ rules: [{ allow: { tool: [] } }] }, /"tool" must be a string/],
  [{ rules: [{ allow: { command: 'git log && ls' } }] }, /"&" is not part of a word/],
  [{ rules: [{ allow: { command: 'git *' } }] }, /"\*" is not part of a word/],
  [{ rules: [{ deny: { tool: 'x' }, examples: { match: [1] } }] }, /examples are lists/],
] as const)
  test(`an invalid policy is refused: ${JSON.stringify(data)}`, () => {
    assert.throws(() => parsePolicy(data, 'policy.yaml'), { code: 'policy/unclear', message: says });
  });

test('every example is evaluated before the policy is used, and the first one that fails is named', async (t) => {
  const good = `rules:
  - allow: { command: git log }
    examples: { match: [git log -1, 'git log | git log'], noMatch: [git logout, 'git log; rm x', 'git log > f'] }
  - deny: { command: curl }
    examples: { match: ['a; curl x'], noMatch: [echo curl] }
  - deny: { path: '**/*.pem' }
    examples: { match: [a/B.PEM, { tool: run_command, input: { command: cat x.pem } }], noMatch: [a.txt] }
  - allow: { tool: web_fetch, host: '*.example.com' }
    examples: { match: [a.example.com], noMatch: [example.com, 'https://example.com.evil/'] }
`;
  const ground = setup(t, good);
  assert.equal((await readPolicies(ground))?.rules.length, 4);
  const file = path.join(ground.config, 'policy.yaml');
  writeFileSync(file, good.replace('match: [git log -1', 'match: [git lob'));
  await assert.rejects(readPolicy(file, ground), {
    message: /rule 1 does not match its example "git lob", and must\.$/,
  });
  writeFileSync(file, good.replace('noMatch: [echo curl]', 'noMatch: [/usr/bin/curl]'));
  await assert.rejects(readPolicies(ground), {
    message: /rule 2 matches its example "\/usr\/bin\/curl", and must not\.$/,
  });
});

test('a broken or endless file is an error, not an empty policy', async (t) => {
  for (const text of ['rules: [', 'a: &a [x]\nrules: [*a, *a]'])
    await assert.rejects(readPolicies(setup(t, text)), { code: 'policy/unclear' });
  await assert.rejects(readPolicy('/nowhere/policy.yaml', setup(t)), { message: /There is no file/ });
});

const state = {} as RunState;
const locate = (given: string): string => path.resolve('/work', given);

/** Returns the decision of the gate of an agent with this policy. */
async function decideByPolicy(
  rules: readonly unknown[],
  call: Pick<ToolCall, 'tool' | 'input'> & Partial<ToolCall>,
  mode: 'ask' | 'auto' = 'ask',
  granted: Grants = sessionGrants(),
): Promise<GateResult> {
  const tools = new Map([
    ['read_file', { effect: 'read' }],
    ['run_command', { effect: 'external' }],
  ] as const);
  const otherwise = permissionGate({ mode: () => mode, grants: granted, tools, locate });
  const policy: Policy = parsePolicy({ rules }, 'policy');
  const gate = policyGate(policy, { locate, cwd: '/work', home: '/home/x', grants: granted, fallback: otherwise });
  return evaluateGates({ gates: [gate], tools: new Map() } as unknown as ResolvedAgent, { id: '1', ...call }, state);
}

test('the gate denies, allows, asks, and leaves the rest to the user', async () => {
  const rules = [
    { allow: { command: 'ls' } },
    { deny: { command: 'rm' } },
    { ask: { command: 'git push' }, why: 'It leaves the house.' },
  ];
  const run = (command: string, mode?: 'auto'): Promise<GateResult> =>
    decideByPolicy(rules, { tool: 'run_command', input: { command } }, mode);
  assert.equal((await run('ls -l')).type, 'allow');
  assert.deepEqual(await run('ls; rm x'), {
    type: 'deny',
    reason: 'The policy denies this call: The rule is in policy, rule 2.',
    by: { kind: 'policy' },
  });
  assert.deepEqual(await run('git push'), {
    type: 'ask',
    question: 'run_command: git push\n(It leaves the house.)',
    by: { kind: 'policy' },
  });
  assert.deepEqual(await run('make'), {
    type: 'ask',
    question: 'run_command: make',
    by: { kind: 'permission' },
  });
  assert.equal((await run('make', 'auto')).type, 'allow');
  assert.equal((await run('git push', 'auto')).type, 'ask');
  assert.equal((await run('rm x', 'auto')).type, 'deny');
  // The variable could be `rm`.
  assert.equal((await run('$X y', 'auto')).type, 'ask');
  assert.equal((await decideByPolicy(rules, { tool: 'read_file', input: { path: 'a' } })).type, 'allow');
});

test('a call that the user allowed for the session is not asked again by a rule, and can still be denied by one', async () => {
  const granted = sessionGrants();
  for (const command of ['git push', 'rm x'])
    await granted.grant(grantKey({ tool: 'run_command', input: { command } }, locate));
  const rules = [{ ask: { command: 'git push' } }, { deny: { command: 'rm' } }];
  const run = (command: string): Promise<GateResult> =>
    decideByPolicy(rules, { tool: 'run_command', input: { command } }, 'ask', granted);
  assert.equal((await run('git push')).type, 'allow');
  assert.equal((await run('git push -f')).type, 'ask');
  assert.equal((await run('rm x')).type, 'deny');
});

test('an approval counts only for the exact call that was shown', async () => {
  const asks = [{ ask: { command: 'ls' } }];
  const first = await decideByPolicy(asks, { tool: 'run_command', input: { command: 'ls' } });
  const question = first.type === 'ask' ? first.question : '';
  assert.equal(
    (await decideByPolicy(asks, { tool: 'run_command', input: { command: 'ls' }, granted: [question] })).type,
    'allow',
  );
  assert.equal(
    (await decideByPolicy(asks, { tool: 'run_command', input: { command: 'ls .' }, granted: [question] })).type,
    'ask',
  );
});
