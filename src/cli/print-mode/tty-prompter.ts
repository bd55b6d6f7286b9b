// Asks the user of a one-shot run on the terminal; without a terminal nothing that needs approval is done.
import { unwrapDeferredCall, escapeInvisible, type ApprovalHandler } from '../../core/index.ts';
import { createApprovalHandler, parseApprovalAnswer, type Conversation } from '../../coding-agent/index.ts';
import { noUser, type UserPrompter } from '../../coding-agent/integrations/index.ts';
import type { ModelHost } from '../../coding-agent/models/index.ts';
import { createSerialQueue } from '../tui/question-queue.ts';

/** Whether the user can be asked. Standard input is checked last, since opening it takes time and most runs do not need it. */
const isInteractiveTerminal = (): boolean => !process.env['CI'] && process.stderr.isTTY && process.stdin.isTTY;

/** Asks and reports on the terminal while a model is opened. Without a terminal every question is confirmed: the run has no other model. */
export const createTtyHost = (write: (text: string) => void): ModelHost => ({
  async confirm(question) {
    if (isInteractiveTerminal()) {
      // Loaded only when a question is asked.
      const { readAnswerKey } = await import('./read-line.ts');
      return (await readAnswerKey(question, '[y/N] '))?.startsWith('y') ?? false;
    }
    write(`${question} No terminal to ask, so: yes.\n`);
    return true;
  },
  // The carriage return overwrites the line of the previous progress.
  progress: (text) => void process.stderr.write(`\r${escapeInvisible(text)}${text.endsWith('100 %') ? '\n' : ''}`),
  notify: (text) => write(`${text}\n`),
});

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
    confirm: async (question, detail, signal) =>
      /^y(es)?$/i.test(
        (await askLine([question, ...(detail === undefined ? [] : [detail])].join('\n'), '[y/N] ', signal)) ?? '',
      ),
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
  createApprovalHandler(conversation, async (pending, signal) => {
    if (!isInteractiveTerminal()) return undefined;
    const { readAnswerKey } = await import('./read-line.ts');
    const keys = pending.choices.map(({ key, label }) => `${key} ${label}`).join(' · ');
    const unwrapped = unwrapDeferredCall(pending);
    const tool = typeof unwrapped === 'string' ? pending.tool : unwrapped.tool;
    const prompt = pending.kind === 'unknown-outcome' ? `Run ${tool} again? [y/N/h] ` : `Allow ${tool}? [y/N/a] `;
    const { fullQuestion } = pending;
    const answer = await inOrder(async () => {
      if (fullQuestion === undefined) return readAnswerKey(`${pending.question}\n${keys}`, prompt, signal);
      const first = await readAnswerKey(`${pending.question}\n${keys} · v show all of it`, prompt, signal);
      return first === 'v' ? readAnswerKey(`${fullQuestion}\n${keys}`, prompt, signal) : first;
    });
    return answer === undefined ? undefined : parseApprovalAnswer(pending.choices, 'key', answer);
  });
