// Completion checks that verify the outcome: a command that passes, an answer that matches.
import { truncateMiddle, type Check, type Workspace } from '../../core/index.ts';
import { finalAnswer, createTextMatcher } from './stop-conditions.ts';

/** The command that must pass. */
export type CommandCheckOptions = {
  /** Where the command runs. */
  readonly workspace: Pick<Workspace, 'exec'>;
  /** The command, or a program with its arguments. */
  readonly command: string | readonly string[];
  /** The name of the check. */
  readonly name?: string;
  /** Milliseconds after which the check fails. */
  readonly timeoutMs?: number;
};

/** The run is complete when this command exits with code 0; until then the model is shown its output. */
export const commandPasses = ({ workspace, command, name, timeoutMs }: CommandCheckOptions): Check => {
  const commandText = typeof command === 'string' ? command : command.join(' ');
  return {
    name: name ?? `passes: ${commandText}`,
    async run(_, signal) {
      const result = await workspace.exec(command, { signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
      if (result.code === 0 && result.stopped === undefined) return { type: 'passed' };
      const ending = result.stopped ? `was stopped (${result.stopped})` : `ended with ${result.code ?? result.signal}`;
      return {
        type: 'failed',
        why: `${commandText} ${ending}, so the task is not complete:\n${truncateMiddle(result.text, 4000)}`,
      };
    },
  };
};

/** The run is complete when the answer contains this text or matches this pattern; until then the model gets a note about what is missing. */
export const answerMatches = (
  expected: string | RegExp,
  why = `The answer must contain ${String(expected)}.`,
): Check => {
  const matches = createTextMatcher(expected);
  return {
    name: 'must-answer',
    run: (state) => (matches(finalAnswer(state) ?? '') ? { type: 'passed' } : { type: 'failed', why }),
  };
};
