// Asks the person about the calls a run waits with: the exact call, yes, no, or always for that exact kind of call.
import type { ToolCall, RunState } from '../../core/index.ts';
import { resolvePendingApprovals } from '../../coding-agent/approvals.ts';
import { parseApprovalAnswer } from '../../coding-agent/approval-choices.ts';
import type { KeyQuestion } from '../tui/ui.ts';
import type { CommandContext } from '../slash-commands/context.ts';

/** Puts every open question of a run to the person. One that is interrupted was not answered. */
export async function askForApprovals(
  { conversation, ui, signal, notify }: Pick<CommandContext, 'conversation' | 'ui' | 'signal' | 'notify'>,
  state: RunState,
): Promise<void> {
  await resolvePendingApprovals(conversation, state, async (call, kind, choices) => {
    const keys = choices.map(({ key, label }) => ({ key, label }));
    const key = await ui.askKey({ ...approvalQuestion(call), keys, defaultKey: 'n' }, signal);
    if (signal.aborted) return undefined;
    const said = parseApprovalAnswer(choices, 'key', key);
    if (said === 'always') notify(`Allowed for this session: ${kind}. /permissions lists and revokes.`);
    return said;
  });
}

/** A longer first line is not read as part of a question. */
const maxTitleChars = 160;

/** What is asked, word for word: in the question itself where it is short, else under it. */
function approvalQuestion({ tool, ask }: ToolCall): Pick<KeyQuestion, 'title' | 'detail'> {
  const exact = ask?.question ?? '';
  if (ask?.kind === 'unknown-outcome') return { title: `Run ${tool} again?`, detail: exact };
  const [head = '', ...rest] = exact.split('\n');
  if (head === '' || head.length > maxTitleChars) return { title: `Allow ${tool}?`, detail: exact };
  return { title: `Allow ${head}?`, ...(rest.length ? { detail: rest.join('\n') } : {}) };
}
