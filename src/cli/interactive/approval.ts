// Asks the user to approve a pending tool call: yes, no, or always for calls like this one.
import type { ApprovalHandler } from '../../core/index.ts';
import { createApprovalHandler, parseApprovalAnswer, type ApprovalPrompt } from '../../coding-agent/index.ts';
import type { KeyQuestion } from '../tui/ui.ts';
import type { CommandContext } from '../slash-commands/context.ts';

/** Creates the approval handler of the terminal. An interrupted question counts as not answered. */
export const createTerminalApproval = ({
  conversation,
  ui,
  notify,
}: Pick<CommandContext, 'conversation' | 'ui' | 'notify'>): ApprovalHandler =>
  createApprovalHandler(conversation, async (prompt, signal) => {
    const keys = prompt.choices.map(({ key, label }) => ({ key, label }));
    const key = await ui.askKey({ ...approvalQuestion(prompt), keys, defaultKey: 'n' }, signal);
    if (signal.aborted) return undefined;
    const answer = parseApprovalAnswer(prompt.choices, 'key', key);
    if (answer === 'always') notify(`Allowed for this session: ${prompt.grantKey}. /permissions lists and revokes.`);
    return answer;
  });

/** A longer first line is shown below the question. */
const maxTitleChars = 160;

/** Builds the question with the exact call: in the title if it is short, otherwise as detail. */
function approvalQuestion({ tool, question, kind }: ApprovalPrompt): Pick<KeyQuestion, 'title' | 'detail'> {
  if (kind === 'unknown-outcome') return { title: `Run ${tool} again?`, detail: question };
  const [head = '', ...rest] = question.split('\n');
  if (head === '' || head.length > maxTitleChars) return { title: `Allow ${tool}?`, detail: question };
  return { title: `Allow ${head}?`, ...(rest.length ? { detail: rest.join('\n') } : {}) };
}
