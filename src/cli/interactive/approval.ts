// Asks the user to approve the pending tool calls of a run: yes, no, or always for calls like this one.
import type { ToolCall, RunState } from '../../core/index.ts';
import { resolvePendingApprovals, parseApprovalAnswer } from '../../coding-agent/index.ts';
import type { KeyQuestion } from '../tui/ui.ts';
import type { CommandContext } from '../slash-commands/context.ts';

/** Asks the user about every pending call of a run. An interrupted question counts as not answered. */
export async function askForApprovals(
  { conversation, ui, signal, notify }: Pick<CommandContext, 'conversation' | 'ui' | 'signal' | 'notify'>,
  state: RunState,
): Promise<void> {
  await resolvePendingApprovals(conversation, state, async (call, kind, choices) => {
    const keys = choices.map(({ key, label }) => ({ key, label }));
    const key = await ui.askKey({ ...approvalQuestion(call), keys, defaultKey: 'n' }, signal);
    if (signal.aborted) return undefined;
    const answer = parseApprovalAnswer(choices, 'key', key);
    if (answer === 'always') notify(`Allowed for this session: ${kind}. /permissions lists and revokes.`);
    return answer;
  });
}

/** A longer first line is shown below the question. */
const maxTitleChars = 160;

/** Builds the question with the exact call: in the title if it is short, otherwise as detail. */
function approvalQuestion({ tool, ask }: ToolCall): Pick<KeyQuestion, 'title' | 'detail'> {
  const question = ask?.question ?? '';
  if (ask?.kind === 'unknown-outcome') return { title: `Run ${tool} again?`, detail: question };
  const [head = '', ...rest] = question.split('\n');
  if (head === '' || head.length > maxTitleChars) return { title: `Allow ${tool}?`, detail: question };
  return { title: `Allow ${head}?`, ...(rest.length ? { detail: rest.join('\n') } : {}) };
}
