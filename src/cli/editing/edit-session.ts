// `/session edit`: the conversation in the person's editor until it is right, then a new branch of the session.
import { messageOf, settleOpenCalls, toArray, type Message } from '../../core/index.ts';
import type { Session } from '../../agent/index.ts';
import type { Mistake } from './conversation-blocks.ts';
import { fromText } from './conversation-read.ts';
import { toText } from './conversation-text.ts';
import { newDraft } from './draft.ts';
import { openEditor, type EditorOptions } from './editor.ts';

/** What came of editing a session. `kept` is the file that holds what was written and not taken over. */
export type SessionEdit =
  | { readonly type: 'edited'; readonly messages: number; readonly notices: readonly string[] }
  | { readonly type: 'cancelled'; readonly why: string; readonly kept?: string }
  | { readonly type: 'failed'; readonly why: string; readonly kept?: string };

/** What editing needs of a session. */
export type EditableSession = Pick<Session, 'running' | 'state' | 'edit'>;

/** Lets a person edit the conversation of a session. Mistakes are shown at the head of the file and it is opened again; nothing written is lost. */
export async function editSession(
  session: EditableSession,
  options: Omit<EditorOptions, 'suffix'> = {},
): Promise<SessionEdit> {
  if (session.running)
    return { type: 'failed', why: 'A run is going on: interrupt it before the conversation is edited.' };
  const { head } = session.state;
  const before = toArray(
    settleOpenCalls(session.state, 'The conversation was edited before this call was settled.').messages,
  );
  const first = toText(before);
  for (let text = first; ;) {
    const edited = await openEditor(text, { ...options, suffix: '.fairlead' });
    if (edited.type === 'failed') return text === first ? edited : { kept: keep(text), ...edited };
    if (edited.type === 'unchanged')
      return text === first ? untouched : { type: 'cancelled', why: givenUp, kept: keep(text) };
    if (withoutComments(edited.text).trim() === '')
      return { type: 'cancelled', why: 'The file was left empty, so the conversation stays as it was.' };
    const read = fromText(edited.text, before);
    if ('mistakes' in read) {
      text = withMistakes(edited.text, read.mistakes);
      continue;
    }
    if (JSON.stringify(read.messages) === JSON.stringify(before)) return untouched;
    if (session.state.head !== head)
      return {
        type: 'failed',
        why: 'The session went on while it was edited, so nothing was taken over.',
        kept: keep(edited.text),
      };
    return take(
      session,
      read.messages,
      read.dropped.map((each) => each.why),
      edited.text,
    );
  }
}

const untouched = { type: 'cancelled', why: 'Nothing was changed, so the conversation stays as it was.' } as const;
const givenUp = 'The mistakes were left as they were, so the conversation stays as it was.';

async function take(
  session: EditableSession,
  messages: readonly Message[],
  notices: readonly string[],
  text: string,
): Promise<SessionEdit> {
  try {
    await session.edit(messages);
    return { type: 'edited', messages: messages.length, notices };
  } catch (error) {
    return { type: 'failed', why: messageOf(error), kept: keep(text) };
  }
}

const keep = (text: string): string => newDraft(text, '.fairlead').file;

const MARK = '#! ';

const isComment = (line: string): boolean => line.startsWith('#') || line.trim() === '';

function withoutComments(text: string): string {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => !isComment(line));
  return first < 0 ? '' : lines.slice(first).join('\n');
}

/** The text with its mistakes told above it; their lines are those that the person will see. */
export function withMistakes(text: string, mistakes: readonly Mistake[]): string {
  const lines = text.split('\n');
  const old = lines.findIndex((line) => !line.startsWith(MARK));
  const told = mistakes.slice(0, mostTold);
  const more = mistakes.length - told.length;
  const top = told.length + (more ? 1 : 0);
  return [
    ...told.map(({ line, what }) => `${MARK}line ${line - old + top}: ${what}`),
    ...(more ? [`${MARK}and ${more} more`] : []),
    ...lines.slice(old),
  ].join('\n');
}

const mostTold = 20;
