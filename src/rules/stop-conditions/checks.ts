// Task completion that is looked at rather than believed: a command that passes, an answer that holds what it must.
import { truncateMiddle, type Check, type Workspace } from '../../core/index.ts';
import { finalAnswer, createTextMatcher } from './stop-conditions.ts';

/** What has to pass. */
export type CommandCheckOptions = {
  readonly workspace: Pick<Workspace, 'exec'>;
  readonly command: string | readonly string[];
  readonly name?: string;
  readonly timeoutMs?: number;
};

/** The run is done once this command ends with code 0; until then the model is shown what it says. */
export const commandPasses = ({ workspace, command, name, timeoutMs }: CommandCheckOptions): Check => {
  const words = typeof command === 'string' ? command : command.join(' ');
  return {
    name: name ?? `passes: ${words}`,
    async run(_, signal) {
      const ran = await workspace.exec(command, { signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
      if (ran.code === 0 && ran.stopped === undefined) return { type: 'passed' };
      const how = ran.stopped ? `was stopped (${ran.stopped})` : `ended with ${ran.code ?? ran.signal}`;
      return { type: 'failed', why: `${words} ${how}, so the task is not done:\n${truncateMiddle(ran.text, 4000)}` };
    },
  };
};

/** The run is done once the answer holds this text or fits this pattern; until then the model is told what is missing. */
export const answerMatches = (expected: string | RegExp, why = `The answer must hold ${String(expected)}.`): Check => {
  const holds = createTextMatcher(expected);
  return {
    name: 'must-answer',
    run: (state) => (holds(finalAnswer(state) ?? '') ? { type: 'passed' } : { type: 'failed', why }),
  };
};
