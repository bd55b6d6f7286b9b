// The person at an editor, who can be asked once the editor knows of the session: before that nobody is there.
import type { UserPrompter } from '../../coding-agent/integrations/index.ts';
import type { AcpClient } from './acp-session.ts';

/** A person who comes later. */
export type DeferredPrompter = UserPrompter & { attach(editor: AcpClient): void };

/** Nobody to begin with; `tell` hears what is said before they come. */
export function createDeferredPrompter(tell: (text: string) => void): DeferredPrompter {
  let editor: AcpClient | undefined;
  const say = (text: string): void =>
    editor
      ? editor.transcript.putBlock({ type: 'notice', id: crypto.randomUUID(), level: 'info', text })
      : tell(`${text}\n`);
  return {
    attach: (now) => void (editor = now),
    get isAbsent() {
      return editor === undefined;
    },
    async confirm(question, detail = '', signal = new AbortController().signal) {
      // One that cannot ask, or that is gone, has not said yes.
      return (await editor?.confirm(question, detail, signal).catch(() => false)) ?? false;
    },
    // An editor has no place for what is only on its way.
    progress() {},
    notify: say,
  };
}
