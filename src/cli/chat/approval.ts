// Asks the person about the calls a run waits with: the exact call, yes, no, or always for that exact kind of call.
import type { RunState } from '../../core/index.ts';
import { alwaysLabel } from '../conversation/always.ts';
import { answerOpen } from '../conversation/asks.ts';
import type { Question } from '../face/face.ts';
import type { Desk } from '../slash/desk.ts';

/** Puts every open question of a run to the person. One that is interrupted was not answered. */
export async function answerAsks(
  { talk, face, signal, say }: Pick<Desk, 'talk' | 'face' | 'signal' | 'say'>,
  state: RunState,
): Promise<void> {
  await answerOpen(talk, state, async (call, kind) => {
    const key = await face.ask(
      {
        ...inWords(call.tool, call.ask?.question ?? ''),
        keys: [
          { key: 'y', label: 'yes, this once' },
          { key: 'n', label: 'no' },
          { key: 'a', label: alwaysLabel(kind) },
        ],
        otherwise: 'n',
      },
      signal,
    );
    if (signal.aborted) return undefined;
    if (key !== 'a') return key === 'y' ? 'once' : 'no';
    say(`Allowed for this session: ${kind}. /permissions lists and revokes.`);
    return 'always';
  });
}

/** A longer first line is not read as part of a question. */
const mostTitle = 160;

/** What is asked, word for word: in the question itself where it is short, else under it. */
function inWords(tool: string, exact: string): Pick<Question, 'title' | 'detail'> {
  const [head = '', ...rest] = exact.split('\n');
  if (head === '' || head.length > mostTitle) return { title: `Allow ${tool}?`, detail: exact };
  return { title: `Allow ${head}?`, ...(rest.length ? { detail: rest.join('\n') } : {}) };
}
