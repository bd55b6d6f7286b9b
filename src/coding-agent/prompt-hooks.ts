// Words on their way into a session: whoever listens hears them before they are written down, may add to them, and may refuse them.
import type { Session, UserInput } from '../agent/index.ts';
import { messageText } from '../core/index.ts';
import type { CodingAgent } from './create-agent.ts';

/** Where words are said. */
export type PromptHookTarget = {
  readonly agent: Pick<CodingAgent, 'hooks'>;
  readonly session: Pick<Session, 'state'>;
  addNote(words: string): Promise<void>;
};

/** Lets these words be heard before they are written down; what is added to them is noted first. Throws where they are refused. */
export async function runPromptHooks(talk: PromptHookTarget, words: UserInput | undefined): Promise<void> {
  const { agent, session } = talk;
  if (words === undefined || !agent.hooks) return;
  const text = typeof words === 'string' ? words : messageText({ role: 'user', parts: words });
  for (const added of await agent.hooks.onPrompt(text, session.state)) await talk.addNote(added);
}
