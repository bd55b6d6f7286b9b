// The approval of a call as a question of the terminal: the preview, the choices, and a choice that shows a long preview completely.
import {
  formatApprovalDetail,
  parseApprovalAnswer,
  type ApprovalPrompt,
  type UserAnswer,
} from '../../coding-agent/index.ts';
import { formatGrantRule } from '../../guards/index.ts';
import type { KeyQuestion, TerminalUI } from './ui.ts';

/** More lines of a preview are shown only if the user selects that. */
const MAX_PREVIEW_LINES = 40;

/** The choice that shows all lines. */
const SHOW_ALL_KEY = 'v';

/** Asks about a call; a long preview is shown in part first. Returns the key of the answer. */
export async function askApproval<T extends string | undefined>(
  prompt: ApprovalPrompt,
  ask: (question: KeyQuestion) => Promise<T>,
): Promise<T> {
  const keys = prompt.choices.map(({ key, label }) => ({ key, label }));
  const short = formatDetail(prompt, MAX_PREVIEW_LINES);
  const full = formatDetail(prompt, Infinity);
  const base = { title: prompt.title, isPreview: true, hidesAnswer: true, defaultKey: 'n' };
  if (full.length === short.length) return ask({ ...base, detail: short.join('\n'), keys });
  const showAll = { key: SHOW_ALL_KEY, label: `Show all ${full.length} lines` };
  const key = await ask({ ...base, detail: short.join('\n'), keys: [...keys, showAll] });
  return key === SHOW_ALL_KEY ? ask({ ...base, detail: full.join('\n'), keys }) : key;
}

/** The preview as lines; the text of the question if there is none. */
const formatDetail = (prompt: ApprovalPrompt, maxLines: number): readonly string[] =>
  formatApprovalDetail(prompt, { maxLines }).split('\n');

/** Asks about a call on the terminal, and tells what the answer allows from now on. An interrupted question counts as not answered. */
export async function askApprovalOnUi(
  ui: Pick<TerminalUI, 'askKey'>,
  prompt: ApprovalPrompt,
  signal: AbortSignal,
  notify: (text: string) => void,
): Promise<UserAnswer | undefined> {
  let reply: string | undefined;
  const key = await askApproval(prompt, (question) =>
    ui.askKey({ ...question, onReply: (text) => (reply = text) }, signal),
  );
  if (signal.aborted) return undefined;
  if (reply !== undefined) return { reply };
  const answer = parseApprovalAnswer(prompt.choices, 'key', key);
  const { grant } = prompt.choices.find((choice) => choice.answer === answer) ?? {};
  if (grant)
    notify(
      `Allowed ${grant.duration === 'session' ? 'for this session' : 'in this project'}: ${formatGrantRule(grant.rule)}. /permissions lists and revokes.`,
    );
  return answer;
}
