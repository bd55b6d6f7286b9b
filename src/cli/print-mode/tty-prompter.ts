// Asks the user of a one-shot run on the terminal; without a terminal nothing that needs approval is done.
import { escapeInvisible, type ApprovalHandler } from '../../core/index.ts';
import {
  createApprovalHandler,
  parseApprovalAnswer,
  type ApprovalPrompt,
  type Conversation,
  type UserAnswer,
} from '../../coding-agent/index.ts';
import { noUser, type UserPrompter } from '../../coding-agent/integrations/index.ts';
import type { ModelHost } from '../../coding-agent/models/index.ts';
import { createSerialQueue } from '../tui/question-queue.ts';
import type { KeyQuestion } from '../tui/ui.ts';

/** Whether the user can be asked. Standard input is checked last, since opening it takes time and most runs do not need it. */
export const isInteractiveTerminal = (): boolean => !process.env['CI'] && process.stderr.isTTY && process.stdin.isTTY;

/** Asks and reports on the terminal while a model is opened. Without a terminal the answer is no. */
export const createTtyHost = (write: (text: string) => void): ModelHost => ({
  async confirm(question) {
    return isInteractiveTerminal() && (await askOnTty({ title: question, ...yesOrNo })) === 'y';
  },
  // The carriage return overwrites the line of the previous progress.
  progress(text) {
    // A log of a job needs no line per percent.
    if (!process.stderr.isTTY) return;
    process.stderr.write(text === '' ? '\r\u001B[K' : `\r${escapeInvisible(text)}`);
  },
  notify: (text) => write(`${text}\n`),
});

const yesOrNo: Pick<KeyQuestion, 'keys' | 'defaultKey'> = {
  keys: [
    { key: 'y', label: 'Yes' },
    { key: 'n', label: 'No' },
  ],
  defaultKey: 'n',
};

/** Asks a question until a line names a choice or is a reply; undefined if the signal was aborted or the input ended. */
async function askOnTty(question: KeyQuestion, signal?: AbortSignal): Promise<string | undefined> {
  // Loaded only when a question is asked.
  const { readAnswerLine } = await import('./read-line.ts');
  const { findAnsweredKey, formatChoicePrompt, formatQuestionChoices, isStrayNumber } =
    await import('../tui/format.ts');
  const { title, detail, onReply } = question;
  const choices = formatQuestionChoices(question).map((choice) => `  ${choice}`);
  let text = [...(detail === undefined ? [] : [escapeInvisible(detail)]), escapeInvisible(title), ...choices].join(
    '\n',
  );
  for (;;) {
    const line = await readAnswerLine(text, formatChoicePrompt(question), signal);
    if (line === undefined) return undefined;
    const key = findAnsweredKey(question, line);
    if (key !== undefined) return key;
    if (onReply && !isStrayNumber(question, line)) {
      onReply(line);
      return question.defaultKey;
    }
    text = 'Type the number of a choice.';
  }
}

/** Tools, sub-agents and calls may ask at the same time, but there is one terminal. */
const inOrder = createSerialQueue();

/** Asks the user about resources of the working directory; without a terminal none of them is used. */
export function createTtyPrompter(write: (text: string) => void): UserPrompter {
  if (!isInteractiveTerminal()) return noUser((text) => write(`${text}\n`));
  const askLine = (text: string, prompt: string, signal?: AbortSignal): Promise<string | undefined> =>
    inOrder(async () => {
      const { readAnswerLine } = await import('./read-line.ts');
      return readAnswerLine(escapeInvisible(text), prompt, signal);
    });
  return {
    ...createTtyHost(write),
    confirm: async (title, detail, signal) =>
      (await inOrder(() => askOnTty({ title, ...(detail === undefined ? {} : { detail }), ...yesOrNo }, signal))) ===
      'y',
    askApproval: askApprovalOnTty,
    async askText(question, choices, signal) {
      const { parseChoiceAnswer, formatChoices } = await import('../tui/format.ts');
      const prompt = `${choices.length > 0 ? 'A number or your own answer' : 'Your answer'}, empty to skip: `;
      return parseChoiceAnswer(
        (await askLine([question, ...formatChoices(choices)].join('\n'), prompt, signal)) ?? '',
        choices,
      );
    },
  };
}

/** Creates the approval handler of a one-shot run; without a terminal every call stays pending. */
export const createTtyApproval = (conversation: Conversation): ApprovalHandler =>
  createApprovalHandler(conversation, async (prompt, signal) =>
    isInteractiveTerminal() ? askApprovalOnTty(prompt, signal) : undefined,
  );

async function askApprovalOnTty(prompt: ApprovalPrompt, signal: AbortSignal): Promise<UserAnswer | undefined> {
  const { askApproval } = await import('../tui/approval-question.ts');
  let reply: string | undefined;
  const key = await inOrder(() =>
    askApproval(prompt, (question) => askOnTty({ ...question, onReply: (text) => (reply = text) }, signal)),
  );
  if (key === undefined) return undefined;
  return reply === undefined ? parseApprovalAnswer(prompt.choices, 'key', key) : { reply };
}
