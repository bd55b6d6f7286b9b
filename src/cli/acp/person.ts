// The person at an editor, who can be asked once the editor knows of the session: before that nobody is there.
import type { Person } from '../equipment/index.ts';
import type { Editor } from './seat.ts';

/** A person who comes later. */
export type LatePerson = Person & { come(editor: Editor): void };

/** Nobody to begin with; `tell` hears what is said before they come. */
export function latePerson(tell: (text: string) => void): LatePerson {
  let editor: Editor | undefined;
  const say = (text: string): void =>
    editor ? editor.face.putBlock({ type: 'notice', id: crypto.randomUUID(), level: 'info', text }) : tell(`${text}\n`);
  return {
    come: (now) => void (editor = now),
    get absent() {
      return editor === undefined;
    },
    async agrees(question, detail = '', signal = new AbortController().signal) {
      // One that cannot ask, or that is gone, has not said yes.
      return (await editor?.agrees(question, detail, signal).catch(() => false)) ?? false;
    },
    // An editor has no place for what is only on its way.
    progress() {},
    say,
  };
}
