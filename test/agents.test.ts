// Sub-agents in the real program: in parallel, on their own session files, and after a kill -9 without repeating an effect.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { JsonObject } from '../src/core/index.ts';
import { calls, says, type ScriptedResponse, type ScriptRequest, type Script } from '../src/testing/index.ts';
import { waitUntilArmed } from './support/tui.ts';
import { answerPrompt, createProgram, waitUntil, type ProgramResult, type TestProgram } from './support/cli-harness.ts';
import { createPromptEnvironment, openPrompt } from './support/terminal-prompt.ts';
import { noTerminal } from './support/terminal.ts';

type AgentScript = (asked: ScriptRequest<JsonObject>) => ScriptedResponse | Promise<ScriptedResponse>;

/** A scripted model that loads the tools first, and then acts as the parent or as a sub-agent. */
const scriptAgents =
  (parent: AgentScript, child: AgentScript): Script<JsonObject> =>
  (asked) => {
    if (JSON.stringify(asked.body).includes('another agent has started')) return child(asked);
    if (asked.prompt === 'more')
      return says(`After ${JSON.stringify(asked.body).includes('report of') ? 'it' : 'nothing'}.`);
    if (asked.results.length === 0) return calls('load_tools', { names: ['spawn_agent', 'manage_agents'] });
    return parent({ ...asked, results: asked.results.slice(1) });
  };
const callTool = (tool: string, input: object): ScriptedResponse =>
  calls('use_tool', { tool, input: input as JsonObject });
const startArgs = ['--one-shot', '--no-sandbox', '--auto-approve', '--session-name', 'parent', '--prompt', 'go'];
const resumeArgs = ['--one-shot', '--no-sandbox', '--auto-approve', '--resume', 'parent', '--prompt', 'go on'];

/** Kills the program after the first effect of its sub-agent, and resumes its session; until then the model does not answer. */
async function killAndResume(
  t: TestContext,
  parent: (isHeld: () => boolean) => AgentScript,
): Promise<TestProgram & { again: ProgramResult }> {
  const acted = Promise.withResolvers<void>();
  let hold = true;
  const program = await createProgram(
    t,
    scriptAgents(
      parent(() => hold),
      ({ results }) => {
        if (results.length === 0) return calls('run_command', { command: 'echo once >> ledger' });
        acted.resolve();
        return hold ? new Promise<ScriptedResponse>(() => {}) : says('acted');
      },
    ),
  );
  await program.seedModels('qwen3');
  const first = program.start(startArgs);
  await Promise.race([acted.promise, first.ended.then(({ err }) => assert.fail(err))]);
  first.kill('SIGKILL');
  await first.ended;
  hold = false;
  return { ...program, again: await program.run(resumeArgs) };
}

test('[P23, P24] sub-agents run in parallel on their own sessions, which are not in the session list and can be shown and resumed', async (t) => {
  const both = Promise.withResolvers<void>();
  const begun = new Set<string>();
  const program = await createProgram(
    t,
    scriptAgents(
      ({ results: { length } }) => {
        if (length < 2) return callTool('spawn_agent', { task: `task ${length}`, background: true });
        return length === 2 ? callTool('agent_manage', { action: 'wait' }) : says('All done.');
      },
      async ({ prompt }) => {
        if (begun.add(prompt).size === 2) both.resolve();
        await both.promise;
        return says(`report of ${prompt}`);
      },
    ),
  );
  await program.seedModels('qwen3');
  const { code, out, err } = await program.call([...startArgs, '--output-format', 'json']);
  assert.equal(code, 0, err);
  assert.match(out, /All done\./);
  assert.deepEqual(program.sessions(), ['parent'], 'no sub-agent is in the session list');
  const reports = [
    ...program.session('parent').matchAll(/(agent-[0-9a-f]{10}): done, 1 turns, 0 calls\]\\n(report of task \d)/g),
  ];
  assert.deepEqual(
    reports.map(([, , report = '']) => report).toSorted((a, b) => a.localeCompare(b)),
    ['report of task 0', 'report of task 1'],
  );
  assert.doesNotMatch((await program.call(['sessions', 'list'])).out, /agent-/);
  const shown = await program.call(['sessions', 'show', reports[0]?.[1] ?? '']);
  assert.match(shown.out, /task \d[^]*report of task \d/);
  const gone = await program.call(['--one-shot', '--resume', reports[0]?.[1] ?? '', '--prompt', 'more']);
  assert.match(gone.out, /After it\./, gone.err);
  assert.match((await program.call(['sessions', 'verify', reports[0]?.[1] ?? ''])).out, /: ok \(/);
});

test('[P23] killed while a sub-agent runs, the program resumes that sub-agent and repeats no effect (faults 30, 39)', async (t) => {
  const { again, cwd } = await killAndResume(
    t,
    () =>
      ({ results }) =>
        results.length === 0 ? callTool('spawn_agent', { task: 'act once' }) : says(`The agent said: ${results[0]}`),
  );
  assert.match(again.out, /The agent said: \[agent-[0-9a-f]{10}: done, 3 turns, 1 calls\]\s+acted/, again.err);
  assert.equal(readFileSync(path.join(cwd, 'ledger'), 'utf8'), 'once\n');
});

test('[P24] a background sub-agent that was interrupted by kill -9 is listed as interrupted, and continues when it is waited for (fault 39)', async (t) => {
  const { again, cwd } = await killAndResume(t, (isHeld) => async ({ results: { length }, results }) => {
    if (length === 0) return callTool('spawn_agent', { task: 'act once', background: true });
    if (isHeld()) return new Promise<ScriptedResponse>(() => {});
    if (length === 1) return callTool('manage_agents', { action: 'list' });
    return length === 2 ? callTool('manage_agents', { action: 'wait' }) : says(results.join('\n'));
  });
  assert.match(
    again.out,
    /agent-[0-9a-f]{10}: interrupted; it has not ended, [^]*: done, 3 turns, 1 calls\]\s+acted/,
    again.err,
  );
  assert.equal(readFileSync(path.join(cwd, 'ledger'), 'utf8'), 'once\n');
});

test('[P23] in a pipe no user answers for a sub-agent: a call that needs approval does not run, and the report names it', async (t) => {
  const program = await createProgram(
    t,
    scriptAgents(
      ({ results }) => (results.length === 0 ? callTool('spawn_agent', { task: 'x' }) : says(results.join())),
      ({ results }) => (results.length ? says('no') : calls('run_command', { command: 'touch made' })),
    ),
  );
  await program.seedModels('qwen3');
  mkdirSync(program.config(), { recursive: true });
  writeFileSync(program.config('policy.yaml'), 'rules:\n  - allow: { tool: spawn_agent }\n');
  const { out, err } = await program.call(['--one-shot', '--no-sandbox', '--prompt', 'go']);
  assert.match(out, /It needs the user’s approval: run_command: touch made/, err);
  assert.ok(!existsSync(path.join(program.cwd, 'made')));
});

test(
  '[P23, P24] on the screen sub-agents show their activity, ask the user before they act, and Esc stops all of them',
  { skip: noTerminal() },
  async (t) => {
    const stuck = new Set<string>();
    const place = await createPromptEnvironment(
      t,
      scriptAgents(
        ({ results: { length } }) => {
          if (length === 0) return callTool('spawn_agent', { task: 'ask first' });
          if (length < 3) return callTool('spawn_agent', { task: `hang ${length}`, background: true });
          return length === 3 ? callTool('manage_agents', { action: 'wait' }) : says('never said');
        },
        ({ prompt, results }) => {
          if (prompt.includes('hang')) {
            if (results.length) stuck.add(prompt);
            return results.length ? new Promise<ScriptedResponse>(() => {}) : calls('list_files', { path: '.' });
          }
          return results.length ? says('asked and done') : calls('run_command', { command: 'touch allowed' });
        },
      ),
    );
    const prompt = await openPrompt(t, place, ['--refresh-models', '--model', 'alpha', '--session-name', 'parent']);
    const yes = async (question: RegExp): Promise<void> => {
      await prompt.waitFor(question);
      await waitUntilArmed();
      await prompt.keys('y', 'Enter');
    };
    await prompt.enter('go');
    await yes(/^ +task +ask first$[^]*^\? Call spawn_agent\? \[y\/N\/a\]/m);
    await yes(/\$ touch allowed\n[^]*^\? Run this command for agent-\w+ \(ask first\)\? \[y\/N\/a\]/m);
    await prompt.waitFor(/: done, 2 turns, 1 calls\]\s+asked and done/);
    assert.ok(existsSync(path.join(place.cwd, 'allowed')));
    await yes(/^ +task +hang 1$[^]*^\? Call spawn_agent\? \[y\/N\/a\]/m);
    await yes(/^ +task +hang 2$[^]*^\? Call spawn_agent\? \[y\/N\/a\]/m);
    await waitUntil('both at work', () => stuck.size === 2);
    await prompt.waitFor(/● manage_agents wait/);
    await prompt.keys('Escape');
    await prompt.waitFor(/(agent-\w+ is stopped: cancelled\.[^]*){2}/);
    await prompt.waitFor(/Interrupted\./);
  },
);

test(
  '[P23] in a one-shot run at a terminal, questions of the run and of its sub-agents are asked one after the other',
  { skip: noTerminal() },
  async (t) => {
    const both = Promise.withResolvers<void>();
    const program = await createProgram(
      t,
      scriptAgents(
        async ({ results: { length } }) => {
          if (length === 0) return callTool('spawn_agent', { task: 'touch', background: true });
          await both.promise;
          if (length === 1) return calls('run_command', { command: 'touch by-parent' });
          return length === 2 ? callTool('manage_agents', { action: 'wait' }) : says('All done.');
        },
        ({ results }) => {
          both.resolve();
          return results.length ? says('touched') : calls('run_command', { command: 'touch by-agent' });
        },
      ),
    );
    await program.seedModels('qwen3');
    const terminal = await program.open(['--one-shot', '--no-sandbox', '--prompt', 'go']);
    await answerPrompt(terminal, /Call spawn_agent\?[^]*\[y\/N\/a\]/, 'y', 'Enter');
    const open = (asked: number): RegExp => new RegExp(`(touch by-(parent|agent)[^]*\\[y/N(/a)?\\][^]*){${asked}}`);
    await answerPrompt(terminal, open(1), 'y', 'Enter');
    await answerPrompt(terminal, open(2), 'y', 'Enter');
    await terminal.waitFor(/All done\./);
    for (const by of ['parent', 'agent']) assert.ok(existsSync(path.join(program.cwd, `by-${by}`)), by);
  },
);
