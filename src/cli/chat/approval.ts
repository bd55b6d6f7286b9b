// Asks the person about the calls a run waits with: the exact call, yes, no, or always for that exact kind of call.
import type { RunState } from '../../core/index.ts';
import { openAsks } from '../conversation/asks.ts';
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
        title: `Allow ${call.tool}?`,
        detail: call.ask?.question ?? '',
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
