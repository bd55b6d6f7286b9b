// The ask_user tool: shows a question of the model to the user and waits for the answer.
import { toolOutput, escapeInvisible, escapeInvisibleLine, type Tool } from '../core/index.ts';

/** A question, and the answers to choose from, if any. */
export type UserQuestion = { readonly question: string; readonly choices: readonly string[] };

/** Shows a question to the user. Returns the answer; undefined if the user declines. */
export type AskUserHandler = (question: UserQuestion, signal: AbortSignal) => Promise<string | undefined>;

/** Creates the tool. It changes nothing, so a question that was open when the process died is asked again. */
export const askUser = (ask: AskUserHandler): Tool => ({
  name: 'ask_user',
  description: 'Ask the user a question that only they can answer, and wait. Offer choices if there are few.',
  input: {
    type: 'object',
    properties: {
      question: { type: 'string', minLength: 1, maxLength: 2000 },
      choices: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 200 }, maxItems: 8 },
    },
    required: ['question'],
    additionalProperties: false,
  },
  effect: 'read',
  async execute(input, { signal }) {
    const { question, choices = [] } = input as { question: string; choices?: readonly string[] };
    // Text of the model must not imitate anything else on the screen.
    const shown = { question: escapeInvisible(question), choices: choices.map(escapeInvisibleLine) };
    const answer = await ask(shown, signal);
    // An interrupt is not an answer: the question stays open.
    signal.throwIfAborted();
    if (answer === undefined)
      return toolOutput({
        failed: true,
        text: 'The user did not answer. Continue as well as you can, and say what you assumed.',
      });
    return toolOutput({ text: answer, data: { ...shown, answer } });
  },
});
