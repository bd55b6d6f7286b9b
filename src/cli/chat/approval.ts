// Asks the person about the calls a run waits with: the exact call, yes, no, or always for that exact kind of call.
import type { RunState } from '../../core/index.ts';
import { openAsks } from '../conversation/asks.ts';
import type { Question } from '../face/face.ts';
import type { Desk } from '../slash/desk.ts';

/** Answers every open question of a run with what the person says. */
export async function answerAsks(
  { talk, face, signal, say }: Pick<Desk, 'talk' | 'face' | 'signal' | 'say'>,
  state: RunState,
): Promise<void> {
  for (const call of openAsks(state)) {
    const kind = talk.outfit.kindOf(call);
    if (talk.grants.has(kind)) {
      await talk.session.answer(call.id, true, 'granted before');
      continue;
    }
    const key = await face.ask(
      {
        ...inWords(call.tool, call.ask?.question ?? ''),
        keys: [
          { key: 'y', label: 'yes, this once' },
          { key: 'n', label: 'no' },
          { key: 'a', label: 'always in this session, for exactly this' },
        ],
        otherwise: 'n',
      },
      signal,
    );
    if (key === 'a') {
      talk.grants.grant(kind);
      say(`Allowed for this session: ${kind}. /permissions lists and revokes.`);
    }
    await talk.session.answer(call.id, key === 'y' || key === 'a', 'person');
  }
}

/** A longer first line is not read as part of a question. */
const mostTitle = 160;

/** What is asked, word for word: in the question itself where it is short, else under it. */
function inWords(tool: string, exact: string): Pick<Question, 'title' | 'detail'> {
  const [head = '', ...rest] = exact.split('\n');
  if (head === '' || head.length > mostTitle) return { title: `Allow ${tool}?`, detail: exact };
  return { title: `Allow ${head}?`, ...(rest.length ? { detail: rest.join('\n') } : {}) };
}
