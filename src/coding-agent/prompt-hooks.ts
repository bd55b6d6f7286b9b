// Runs the hooks of the user on a prompt before it is recorded.
import type { Session, UserInput } from '../agent/index.ts';
import { messageText } from '../core/index.ts';
import type { Conversation } from './conversation.ts';
import type { CodingAgent } from './create-agent.ts';

/** Runs the prompt hooks on an input before it is recorded: adds their notes to the session, or throws if a hook refuses the input. */
export async function runPromptHooks(
  conversation: Pick<Conversation, 'addNote'> & {
    readonly agent: Pick<CodingAgent, 'hooks'>;
    readonly session: Pick<Session, 'state'>;
  },
  input: UserInput | undefined,
): Promise<void> {
  const { agent, session } = conversation;
  if (input === undefined || !agent.hooks) return;
  const text = typeof input === 'string' ? input : messageText({ role: 'user', parts: input });
  for (const note of await agent.hooks.onPrompt(text, session.state)) await conversation.addNote(note, 'hook');
}
