// Words on their way into a session: whoever listens hears them before they are written down, may add to them, and may refuse them.
import type { Session, UserInput } from '../../agent/index.ts';
import { messageText } from '../../core/index.ts';
import type { Outfit } from './outfit.ts';

/** Where words are said. */
export type Hearing = {
  readonly outfit: Pick<Outfit, 'ears'>;
  readonly session: Pick<Session, 'state'>;
  note(words: string): Promise<void>;
};

/** Lets these words be heard before they are written down; what is added to them is noted first. Throws where they are refused. */
export async function heed(talk: Hearing, words: UserInput | undefined): Promise<void> {
  const { outfit, session } = talk;
  if (words === undefined || !outfit.ears) return;
  const text = typeof words === 'string' ? words : messageText({ role: 'user', parts: words });
  for (const added of await outfit.ears.onPrompt(text, session.state)) await talk.note(added);
}
