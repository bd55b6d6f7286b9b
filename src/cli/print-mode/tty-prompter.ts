// The person beside a single run, if there is one: asked on the terminal, otherwise nothing that needs a yes is done.
import { unwrapDeferredCall, escapeInvisible, type RunState } from '../../core/index.ts';
import { resolvePendingApprovals, isAwaitingApproval } from '../../coding-agent/approvals.ts';
import { parseApprovalAnswer } from '../../coding-agent/approval-choices.ts';
import type { Conversation } from '../../coding-agent/conversation.ts';
import { noUser, type UserPrompter } from '../../coding-agent/integrations/index.ts';
import type { ModelHost } from '../../coding-agent/models/open-model.ts';

/** Whether somebody can be asked. Standard input comes last: nothing else in a run may need it, and opening it costs time. */
const isInteractiveTerminal = (): boolean => !process.env['CI'] && process.stderr.isTTY && process.stdin.isTTY;

/** Asks and tells on the terminal while a model is made ready. In a pipe, having nothing else is the answer. */
export const createTtyHost = (say: (text: string) => void): ModelHost => ({
  async confirm(question) {
    if (isInteractiveTerminal()) {
      // Loaded when somebody is asked: most runs ask nobody.
      const { readAnswerKey } = await import('./read-line.ts');
      return (await readAnswerKey(question, '[y/N] '))?.startsWith('y') ?? false;
    }
    say(`${question} Nobody is here to answer, so: yes.\n`);
    return true;
  },
  // Told on one line, which the return begins anew.
  progress: (text) => void process.stderr.write(`\r${escapeInvisible(text)}${text.endsWith('100 %') ? '\n' : ''}`),
  notify: (text) => say(`${text}\n`),
});

/** There is one terminal: of several tools, agents and calls that ask at once each has its turn. */
let lastPrompt: Promise<unknown> = Promise.resolve();
function enqueuePrompt<T>(ask: () => Promise<T>): Promise<T> {
  const turn = lastPrompt.then(ask);
  lastPrompt = turn.catch(() => undefined);
  return turn;
}

/** The person beside a run, asked about what the folder brings along; in a pipe nobody is, and nothing of the folder runs. */
export function createTtyPrompter(say: (text: string) => void): UserPrompter {
  const tells = (text: string): void => say(`${text}\n`);
  if (!isInteractiveTerminal()) return noUser(tells);
  const asked = (words: string, prompt: string, signal?: AbortSignal): Promise<string | undefined> =>
    enqueuePrompt(async () => {
      const { readAnswerLine } = await import('./read-line.ts');
      return readAnswerLine(escapeInvisible(words), prompt, signal);
    });
  return {
    ...createTtyHost(say),
    confirm: async (question, detail, signal) =>
      /^y(es)?$/i.test(
        (await asked([question, ...(detail === undefined ? [] : [detail])].join('\n'), '[y/N] ', signal)) ?? '',
      ),
    async askText(question, choices, signal) {
      const { parseChoiceAnswer, formatChoices } = await import('../tui/format.ts');
      const prompt = `${choices.length > 0 ? 'A number or your own answer' : 'Your answer'}, empty to skip: `;
      return parseChoiceAnswer(
        (await asked([question, ...formatChoices(choices)].join('\n'), prompt, signal)) ?? '',
        choices,
      );
    },
  };
}

/** Puts a run's open questions to the person until the signal comes; whether all of them were answered. */
export async function answerApprovalsOnTty(talk: Conversation, state: RunState, signal: AbortSignal): Promise<boolean> {
  if (!isInteractiveTerminal() || signal.aborted) return false;
  const { readAnswerKey } = await import('./read-line.ts');
  await resolvePendingApprovals(talk, state, async (call, _kind, choices) => {
    const keys = choices.map(({ key, label }) => `${key} ${label}`).join(' · ');
    const meant = unwrapDeferredCall(call);
    const tool = typeof meant === 'string' ? call.tool : meant.tool;
    const words = `${call.ask?.question ?? ''}\n${keys}`;
    const prompt = call.ask?.kind === 'unknown-outcome' ? `Run ${tool} again? [y/N/h] ` : `Allow ${tool}? [y/N/a] `;
    const said = await enqueuePrompt(() => readAnswerKey(words, prompt, signal));
    return said === undefined ? undefined : parseApprovalAnswer(choices, 'key', said);
  });
  return !signal.aborted && !isAwaitingApproval(talk.session.state);
}
