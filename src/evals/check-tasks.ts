// Checks repository tasks before they are run: the test of a task must fail without work, and pass with its solution.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, FairleadError } from '../core/index.ts';
import { parseRepositoryTasks, type RepositoryTask } from './repository-tasks.ts';
import { createDirectoryCommand, withCaseDirectory } from './runner.ts';
import { findCommandError, type RunCaseCommand } from './score-trial.ts';

/** Reads the repository tasks of a file. */
export async function readRepositoryTasks(file: string): Promise<readonly RepositoryTask[]> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new FairleadError('eval/no-dataset', `The tasks cannot be read: ${errorMessage(error)}`, { blame: 'user' });
  }
  return parseRepositoryTasks(text, file, path.dirname(path.resolve(file)));
}

/** Returns the problems of tasks: a test that passes without work, or that fails with the solution of the task. */
export async function checkRepositoryTasks(
  tasks: readonly RepositoryTask[],
  { runCommand = createDirectoryCommand() }: { readonly runCommand?: RunCaseCommand } = {},
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { evalCase, solution } of tasks) {
    const test = (files: typeof evalCase.files): Promise<string | undefined> =>
      withCaseDirectory(files, (cwd) => findCommandError(evalCase, { cwd, runCommand }));
    const before = await test(evalCase.files);
    if (before === undefined) problems.push(`${evalCase.id}: its test passes without work.`);
    else if (before.startsWith('Its command was not run')) problems.push(`${evalCase.id}: ${before}`);
    const after = solution && (await test({ ...evalCase.files, ...solution }));
    if (after !== undefined) problems.push(`${evalCase.id}: with its solution, its test fails. ${after}`);
  }
  return problems;
}
