// Tests of run_command and the git directory: it is read-only unless the user approved write_git.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { ExecOptions, RunState, ToolContext, ToolOutput, Workspace } from '../core/index.ts';
import { runCommand } from './run-command.ts';

const refusal = "fatal: Unable to create '/project/.git/index.lock': Read-only file system\n";

/** A workspace whose commands fail as git does in a read-only repository, and the options of these commands. */
function createWorkspace(isGitReadOnly: boolean): { readonly workspace: Workspace; readonly given: ExecOptions[] } {
  const given: ExecOptions[] = [];
  const workspace = {
    isGitReadOnly,
    exec(_command: string, options: ExecOptions) {
      given.push(options);
      const isWritable = !isGitReadOnly || options.writesGit === true;
      return Promise.resolve({ code: isWritable ? 0 : 128, signal: null, text: isWritable ? 'done\n' : refusal });
    },
  } as unknown as Workspace;
  return { workspace, given };
}

const context = { signal: new AbortController().signal, state: {} as RunState } as ToolContext;

test('a command that cannot write .git gets the hint to use git_change, which is loaded', async () => {
  const { workspace, given } = createWorkspace(true);
  const tool = runCommand(workspace);
  const input = { command: 'git commit -m x' };
  assert.equal(await tool.needsApproval?.(input, context.state), false);
  const { text, loadsTools } = (await tool.execute(input, context)) as ToolOutput;
  assert.match(text, /Exit code: 128\. Commands cannot write \.git\. .*git_change.*write_git/);
  assert.deepEqual(loadsTools, ['git_change']);
  assert.equal(given[0]?.writesGit, undefined);
});

test('write_git needs an approval in every mode, makes .git writable, and is not for the background', async () => {
  const { workspace, given } = createWorkspace(true);
  const tool = runCommand(workspace);
  const input = { command: 'git stash', write_git: true };
  assert.match(String(await tool.needsApproval?.(input, context.state)), /^Warning: .*commits, branches and index/);
  const { text } = (await tool.execute(input, context)) as ToolOutput;
  assert.deepEqual([text, given[0]?.writesGit], ['done\n[Exit code: 0.]', true]);
  await assert.rejects(async () => tool.execute({ ...input, background: true }, context), /cannot write \.git/);
});

test('without a sandbox .git is writable and write_git is not offered', async () => {
  const offers = (isGitReadOnly: boolean): boolean =>
    JSON.stringify(runCommand(createWorkspace(isGitReadOnly).workspace).input).includes('write_git');
  assert.deepEqual([offers(true), offers(false)], [true, false]);
});
